import z from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'
import { faultsOf, KEYS, MAX_IDLE_MS } from './config-faults.ts'
import type { KindName } from './kind-name.ts'

/** One provider of models. */
export interface Config {
  /** What agents name as their `provider`. */
  readonly provider: string
  /** Which API it speaks. Either this, or `package` and `factory`. */
  readonly kind?: KindName
  /** Any other provider package of the AI SDK, resolved from the composition's folder. */
  readonly package?: string
  /** What that package exports to make a provider, such as `createMistral`. */
  readonly factory?: string
  /** Where it is, the version included (`https://host/v1`). Default: the provider's own address, where there is one. */
  readonly baseURL?: string
  /** The name of the environment variable that holds the key; it is read with each request. */
  readonly apiKeyEnv?: string
  /** Sent with each request. No credentials. */
  readonly headers?: Readonly<Record<string, string>>
  /** How long a provider may be silent, in milliseconds. Default 120000. */
  readonly idleTimeoutMs: number
  /** Handed through, in the shape of the AI SDK: by family. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Whether the model's reasoning goes back to the provider that it came from. Default `true`. */
  readonly sendReasoning: boolean
}

const optional = <T>(type: z<T>): z<T> => z.union([type, z.const(undefined as never)]) as unknown as z<T>

const schema = z.object({
  provider: z.string().required().description('What agents name as their provider.'),
  kind: z.string().description('Which API it speaks.'),
  package: z.string().description('Another provider package of the AI SDK.'),
  factory: z.string().description('What that package exports to make a provider.'),
  baseURL: z.string().description('Where the provider is, the version included.'),
  apiKeyEnv: z.string().description('The name of the environment variable that holds the key.'),
  headers: optional(z.dict(z.string())).description('Sent with each request.'),
  idleTimeoutMs: z.natural().min(1).max(MAX_IDLE_MS).default(120_000).description('How long a provider may be silent.'),
  providerOptions: optional(z.dict(z.any())).description('Handed through, by family.'),
  sendReasoning: z.boolean().default(true).description('Whether reasoning goes back to the provider that it came from.'),
}) as unknown as z<Partial<Config>, Config>

export const Config: z<Partial<Config>, Config> = strictConfig('ai-sdk-model', schema, KEYS, { check: faultsOf })
