import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider'
import { messageOf } from '@loopguard/kit'
import { LlmAdapter, LlmError, type LlmRequest, type StreamChunk } from '@loopguard/llm'
import { idleWatchdog } from '@loopguard/timeout'
import { chunksOf } from './chunks.ts'
import type { HttpClient } from './client.ts'
import type { Config } from './config.ts'
import { Failures } from './failure.ts'
import { type Fetch, Wire } from './guarded-fetch.ts'
import type { SdkModel } from './kinds.ts'
import type { Source } from './models.ts'
import { PromptWriter } from './prompt.ts'
import { redactor } from './redact.ts'

/** A model behind a provider package of the AI SDK: its `doStream` alone, with our clock, our end of a stream, and our failures. */
export class AiSdkAdapter extends LlmAdapter {
  private readonly config: Config
  private readonly source: Source
  private readonly client: HttpClient
  private readonly prompts: PromptWriter
  /** By the signal that the package hands to `fetch`. */
  private readonly wires = new WeakMap<object, Wire>()

  constructor(config: Config, source: Source, client: HttpClient) {
    super()
    this.config = config
    this.source = source
    this.client = client
    this.prompts = new PromptWriter(config.provider, config.sendReasoning)
  }

  async *stream(request: LlmRequest): AsyncGenerator<StreamChunk, void, undefined> {
    const { signal } = request
    const key = this.key()
    const failures = new Failures(this.config.provider, redactor([key, ...Object.values(this.config.headers ?? {})]))
    // Both take long the first time, which is no silence of the provider's.
    const [make, send] = await Promise.all([this.source.load(), this.client.open()])
    if (signal.aborted) return
    const watch = idleWatchdog(signal, this.config.idleTimeoutMs, 'TIMEOUT')
    const wire = new Wire(send, watch, failures, this.source.kind.events)
    this.wires.set(watch.signal, wire)
    // Known packages hand our signal on, so that one `fetch` does for all requests, and one model; another package may wrap it.
    const model = (): SdkModel => make(request.model, key, this.config.kind === undefined ? wire.fetch : this.fetch)
    const chunks = this.chunks(request, model, failures, watch.signal)
    try {
      for (;;) {
        const { done, value } = await watch.next(chunks)
        if (done === true) return
        yield value
      }
    } catch (thrown) {
      if (watch.expiry !== undefined) throw failures.make('TIMEOUT', `was silent for ${watch.expiry.timeoutMs}ms`, '')
      // Cancelled: the stream ends, and who reads it knows why.
      if (signal.aborted) return
      throw wire.failure ?? failureOf(thrown, wire, failures)
    } finally {
      watch[Symbol.dispose]()
      await chunks.return(undefined)
      wire.close()
    }
  }

  private readonly fetch: Fetch = (url, init) => {
    const wire = this.wires.get(init?.signal as AbortSignal)
    if (wire === undefined) throw new TypeError('the package has replaced the signal of the request')
    return wire.fetch(url, init)
  }

  private async *chunks(
    request: LlmRequest,
    model: () => SdkModel,
    failures: Failures,
    abortSignal: AbortSignal,
  ): AsyncGenerator<StreamChunk, void, undefined> {
    const { stream } = await model().doStream({ ...this.options(request), abortSignal })
    yield* chunksOf(stream, failures)
  }

  private options(request: LlmRequest): LanguageModelV4CallOptions {
    const { tools = [], maxTokens } = request
    const defaults = Object.entries(this.source.kind.providerOptions ?? {})
    const own = this.config.providerOptions ?? {}
    return {
      prompt: this.prompts.write(request),
      ...(tools.length > 0 && {
        tools: tools.map(({ name, description, parameters }) => ({ type: 'function', name, description, inputSchema: parameters })),
        toolChoice: { type: 'auto' },
      }),
      ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
      providerOptions: {
        ...own,
        ...Object.fromEntries(defaults.map(([family, options]) => [family, { ...options, ...own[family] }])),
      } as SharedV4ProviderOptions,
    }
  }

  /** Read with each request, so that a key may change while the host runs. */
  private key(): string | undefined {
    const { provider, apiKeyEnv = this.source.kind.apiKeyEnv } = this.config
    if (apiKeyEnv === undefined) return undefined
    const key = process.env[apiKeyEnv]?.trim() ?? ''
    if (/^[\x21-\x7e]+$/.test(key)) return key
    const what = key === '' ? 'is not set, or empty' : 'holds characters that no key has'
    throw new LlmError(`provider "${provider}" needs a key, and the environment variable ${apiKeyEnv} ${what}`, 'MISSING_CREDENTIAL', {
      retryable: false,
    })
  }
}

interface SdkError {
  readonly name?: unknown
  readonly data?: unknown
  readonly code?: unknown
}

/** What a package threw, or told as an error, while nothing was wrong with the connection. */
function failureOf(thrown: unknown, { sent }: Wire, failures: Failures): unknown {
  if (thrown instanceof LlmError) return thrown
  const { name, data, code } = (thrown ?? {}) as SdkError
  const said = messageOf(thrown)
  if (code === 'BAD_MODEL_PACKAGE') return thrown
  if (!sent) return failures.make('INVALID_REQUEST', 'got no request, because the package refused it', said)
  if (name === 'AI_JSONParseError') return failures.make('MALFORMED_RESPONSE', 'sent an event that is no JSON', said, { retryable: true })
  // Without data it says that there was no finish reason; with data, what it could not read.
  if (name === 'AI_InvalidResponseDataError' && data === undefined)
    return failures.make('STREAM_CLOSED', 'ended its answer without a reason', '')
  return failures.make('MALFORMED_RESPONSE', 'sent what the package cannot read', said)
}
