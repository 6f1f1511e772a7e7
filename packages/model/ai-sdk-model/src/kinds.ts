import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { EventShape } from './events.ts'
import type { KindName } from './kind-name.ts'

/** What a factory of a provider package takes. */
export interface FactorySettings {
  readonly name: string
  readonly baseURL: string
  readonly apiKey?: string
  readonly headers: Readonly<Record<string, string>>
  readonly fetch: typeof globalThis.fetch
  readonly includeUsage: true
  readonly transformRequestBody: (body: Record<string, unknown>) => Record<string, unknown>
}

/** A language model of a provider package, as far as it is used. What is used of the stream is the same in `v3`. */
export interface SdkModel {
  readonly specificationVersion: string
  doStream(options: LanguageModelV4CallOptions): PromiseLike<{ readonly stream: ReadableStream<LanguageModelV4StreamPart> }>
}

/** What a factory returns: a function of the model's id, with methods for other families of models. */
export type SdkProvider = ((modelId: string) => SdkModel) & Readonly<Record<string, (modelId: string) => SdkModel>>

/** A kind of provider that is known by name. */
export interface Kind {
  /** The package that speaks to it. */
  readonly package: string
  readonly load: () => Promise<object>
  readonly factory: string
  /** Which of the provider's methods makes the model; without one, the provider itself does. */
  readonly method?: string
  /** Without one, the row names it. */
  readonly baseURL?: string
  readonly apiKeyEnv?: string
  readonly events: EventShape
  /** Options of every request that the row may override, by family. */
  readonly providerOptions?: Readonly<Record<string, object>>
}

const OPENAI: Omit<Kind, 'events'> = {
  package: '@ai-sdk/openai',
  load: () => import('@ai-sdk/openai'),
  factory: 'createOpenAI',
  baseURL: 'https://api.openai.com/v1',
  apiKeyEnv: 'OPENAI_API_KEY',
}

/** The addresses are constants: the packages' own environment variables must not decide where a conversation goes. */
export const KINDS: Readonly<Record<KindName, Kind>> = {
  'openai-compatible': {
    package: '@ai-sdk/openai-compatible',
    load: () => import('@ai-sdk/openai-compatible'),
    factory: 'createOpenAICompatible',
    events: 'chat',
  },
  // What is not stored with the provider comes back encrypted, and goes out again.
  openai: { ...OPENAI, method: 'responses', events: 'other', providerOptions: { openai: { store: false } } },
  'openai-chat': { ...OPENAI, method: 'chat', events: 'chat' },
  anthropic: {
    package: '@ai-sdk/anthropic',
    load: () => import('@ai-sdk/anthropic'),
    factory: 'createAnthropic',
    baseURL: 'https://api.anthropic.com/v1',
    apiKeyEnv: 'ANTHROPIC_API_KEY',
    events: 'messages',
  },
  deepseek: {
    package: '@ai-sdk/deepseek',
    load: () => import('@ai-sdk/deepseek'),
    factory: 'createDeepSeek',
    baseURL: 'https://api.deepseek.com/v1',
    apiKeyEnv: 'DEEPSEEK_API_KEY',
    events: 'chat',
  },
  google: {
    package: '@ai-sdk/google',
    load: () => import('@ai-sdk/google'),
    factory: 'createGoogle',
    baseURL: 'https://generativelanguage.googleapis.com/v1beta',
    apiKeyEnv: 'GOOGLE_GENERATIVE_AI_API_KEY',
    events: 'other',
  },
}
