import { type Context, Service } from '@deepseek-ai/cordis'
import { busOf, type Bus, listenersOf } from '@loopguard/cordis-internals'
import { HarnessError, hopIfDue } from '@loopguard/kit'
import { endOfThrown, endWithoutFinish } from './ends.ts'
import type { SessionId } from './ids.ts'
import { innermost } from './innermost.ts'
import type { Message } from './message.ts'
import type { StreamChunk } from './stream.ts'

/** A tool, as the model is told of it. `parameters` is a JSON Schema. */
export interface RequestTool {
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
}

/** One model request. Frozen; its parts are immutable. */
export interface LlmRequest {
  readonly provider: string
  readonly model: string
  readonly system?: string
  readonly messages: readonly Message[]
  readonly tools?: readonly RequestTool[]
  readonly maxTokens?: number
  readonly signal: AbortSignal
  readonly sessionId: SessionId
}

/** Speaks to a model. A throw becomes one terminal finish, so an adapter need not catch. */
export abstract class LlmAdapter {
  /** Must stop when `request.signal` aborts: the loop never abandons a stream. */
  abstract stream(request: LlmRequest): AsyncIterable<StreamChunk>
}

declare module '@deepseek-ai/cordis' {
  interface Context {
    llm: LlmRuntime
  }
  interface Events {
    /**
     * Around the adapter, synchronously. What `next()` returns never throws and always finishes. When the adapter sends more at once,
     * that comes too, behind the finish: the consumer never sees it, a listener can.
     * @mode waterfall by position; a throw becomes a terminal `error` finish.
     */
    'llm/stream'(request: LlmRequest, next: () => AsyncIterable<StreamChunk>): AsyncIterable<StreamChunk>
  }
}

type StreamListener = (request: LlmRequest, next: () => AsyncIterable<StreamChunk>) => AsyncIterable<StreamChunk>

/** `ctx.llm`: the adapters, by provider, and the one door to them. */
export class LlmRuntime extends Service {
  private readonly adapters = new Map<string, LlmAdapter>()
  private readonly bus: Bus

  constructor(ctx: Context) {
    super(ctx, 'llm')
    this.bus = busOf(ctx)
  }

  /** The providers that are served now. */
  providers(): readonly string[] {
    return [...this.adapters.keys()]
  }

  /**
   * Serves the named providers with `adapter` until the disposer runs or the caller's fiber goes.
   * @throws HarnessError `BAD_PROVIDER` for a blank name or none, `PROVIDER_EXISTS` for one that is served already.
   */
  registerAdapter(served: readonly string[], adapter: LlmAdapter): () => void {
    const { adapters } = this
    const providers = [...served]
    if (providers.length === 0) throw new HarnessError('llm: an adapter must name at least one provider, got []', 'BAD_PROVIDER')
    if (typeof adapter?.stream !== 'function') {
      throw new HarnessError(`llm: the adapter for ${providers.join(', ')} has no stream() method`, 'BAD_ADAPTER')
    }
    for (const [index, provider] of providers.entries()) {
      if (typeof provider !== 'string' || provider.trim() === '') {
        throw new HarnessError(
          `llm: a provider name must be non-blank text, got ${JSON.stringify(provider)} (at index ${index})`,
          'BAD_PROVIDER',
        )
      }
      if (adapters.has(provider) || providers.indexOf(provider) !== index) {
        throw new HarnessError(`llm: provider "${provider}" has an adapter already`, 'PROVIDER_EXISTS')
      }
    }
    return this.ctx.effect(
      () => {
        for (const provider of providers) adapters.set(provider, adapter)
        return () => {
          for (const provider of providers) adapters.delete(provider)
        }
      },
      `ctx.llm.registerAdapter(${providers.map((provider) => JSON.stringify(provider)).join(', ')})`,
    ) as () => void
  }

  /**
   * The chunks of one request, which starts with the first demand. Never throws: `finish` comes last and once, as `error` or
   * `aborted` when something failed. Codes of its own failures: `NO_ADAPTER`, `ADAPTER_FAILED` (it threw, without a code),
   * `NO_FINISH`, `BAD_STREAM` (no stream at all), `REQUEST_ABORTED`.
   */
  stream(request: LlmRequest): AsyncIterable<StreamChunk> {
    const { adapters, bus } = this
    const frozen = Object.isFrozen(request) ? request : Object.freeze({ ...request })
    const open = (): AsyncIterable<StreamChunk> =>
      streamOf(adapterFor(adapters, frozen).stream(frozen), `the adapter of provider "${frozen.provider}" returned no stream`)
    return terminated(frozen, () => around(bus, frozen, open))
  }
}

function adapterFor(adapters: ReadonlyMap<string, LlmAdapter>, { provider }: LlmRequest): LlmAdapter {
  const adapter = adapters.get(provider)
  if (adapter !== undefined) return adapter
  const known = [...adapters.keys()].map((name) => `"${name}"`).join(', ')
  throw new HarnessError(`no adapter for provider "${provider}" (registered: ${known === '' ? 'none' : known})`, 'NO_ADAPTER')
}

/**
 * By position, so that a listener may ask for the rest of the chain again (a retry). It sees what an adapter sends behind its finish,
 * and a finish in any case; without listeners, both are the consumer's business alone.
 */
function around(bus: Bus, request: LlmRequest, open: () => AsyncIterable<StreamChunk>): AsyncIterable<StreamChunk> {
  const listeners = listenersOf(bus, 'waterfall', null, 'llm/stream', [request]) as readonly StreamListener[]
  if (listeners.length === 0) return open()
  const from = (index: number): AsyncIterable<StreamChunk> => {
    const listener = listeners[index]
    if (listener === undefined) return innermost(request, open)
    return streamOf(
      listener(request, () => from(index + 1)),
      'llm/stream: a listener returned no stream; is a `return next()` missing?',
    )
  }
  return from(0)
}

function streamOf(answer: AsyncIterable<StreamChunk>, complaint: string): AsyncIterable<StreamChunk> {
  if (typeof (answer as Partial<typeof answer> | null | undefined)?.[Symbol.asyncIterator] === 'function') return answer
  throw new HarnessError(complaint, 'BAD_STREAM')
}

/**
 * Always ends with a finish: a throw of `open` becomes one, and so does an end without one. A consumer's early exit is handed on to
 * the source. What comes after the first finish is cut off.
 */
async function* terminated(request: LlmRequest, open: () => AsyncIterable<StreamChunk>): AsyncGenerator<StreamChunk, void, undefined> {
  let delivering = false
  try {
    const hop = hopIfDue()
    if (hop !== undefined) await hop
    for await (const chunk of open()) {
      const next = hopIfDue()
      if (next !== undefined) await next
      const isFinish = chunk.type === 'finish'
      delivering = true
      yield chunk
      if (isFinish) return
      delivering = false
    }
  } catch (thrown) {
    // Thrown while the source was being closed, because it had finished or its consumer has left.
    if (!delivering) yield endOfThrown(request, thrown)
    return
  }
  yield endWithoutFinish(request)
}
