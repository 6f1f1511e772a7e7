import type { LlmError } from '@loopguard/llm'
import type { IdleWatchdog } from '@loopguard/timeout'
import { Events, type EventShape } from './events.ts'
import type { Failures } from './failure.ts'
import { refusal } from './refusal.ts'

export type Fetch = typeof globalThis.fetch

const MAX_ERROR_BYTES = 65_536
/** A body that a provider package may read; one without a type may be one. */
const STREAM_TYPE = /event-?stream|ndjson|octet-stream/i

/**
 * The connection of one request. Its `fetch` is what the provider package sends with: every byte that comes in pulses the watchdog, and
 * what is no stream of events never reaches the package. It knows first what went wrong, and keeps that: what packages make of it differs.
 */
export class Wire {
  /** Whether the request has left. */
  sent = false
  failure: LlmError | undefined = undefined
  private readonly send: Fetch
  private readonly watch: IdleWatchdog
  private readonly failures: Failures
  private readonly shape: EventShape
  private reader: ReadableStreamDefaultReader<Uint8Array> | undefined

  constructor(send: Fetch, watch: IdleWatchdog, failures: Failures, shape: EventShape) {
    this.send = send
    this.watch = watch
    this.failures = failures
    this.shape = shape
    watch.signal.addEventListener('abort', this.close)
  }

  readonly fetch: Fetch = async (url, init) => {
    const { watch } = this
    this.sent = true
    const response = await this.guarded(() =>
      this.send(url, {
        ...init,
        // Compressed bytes may be held back on the way, and would be no sign of life then.
        headers: { ...(init?.headers as Record<string, string>), 'accept-encoding': 'identity' },
        // A redirect would carry the key to a stranger.
        redirect: 'manual',
        signal: watch.signal,
      }),
    )
    watch.pulse()
    this.reader = response.body?.getReader()
    const { status, headers } = response
    if (response.ok && STREAM_TYPE.test(headers.get('content-type') ?? 'event-stream'))
      return new Response(this.body(), { status, headers })
    throw this.fail(refusal(response, await this.beginning(), this.failures))
  }

  /** Shuts the connection unless it was read to its end, and lets go of it. */
  readonly close = (): void => {
    // The client keeps the signals of its requests until those are collected, which must not wait for what hangs on a signal.
    this.watch.signal.removeEventListener('abort', this.close)
    // Of a body that has ended or broken this does nothing, and what it says then is known.
    this.reader?.cancel().catch(() => {})
    this.reader = undefined
  }

  private body(): ReadableStream<Uint8Array> {
    const events = new Events(this.shape, this.failures)
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          for (;;) {
            const bytes = await this.read()
            if (bytes === undefined) {
              const rest = events.rest()
              if (rest.length > 0) controller.enqueue(rest)
              return controller.close()
            }
            const passed = this.checked(() => events.take(bytes))
            if (passed.length > 0) return controller.enqueue(passed)
          }
        },
        cancel: () => this.close(),
      },
      // Bytes are asked for when somebody wants them, so that a slow consumer slows the provider down.
      { highWaterMark: 0 },
    )
  }

  /** The next bytes; `undefined` at the end. */
  private async read(): Promise<Uint8Array | undefined> {
    const { done, value } = await this.guarded(async () => this.reader?.read() ?? { done: true, value: undefined })
    // A reader that was cancelled says that all has been read.
    this.watch.signal.throwIfAborted()
    if (done) return undefined
    this.watch.pulse()
    return value
  }

  /** As much of a body as is read of one that is no stream of events. */
  private async beginning(): Promise<string> {
    const parts: Uint8Array[] = []
    let left = MAX_ERROR_BYTES
    while (left > 0) {
      const bytes = await this.read()
      if (bytes === undefined) break
      parts.push(bytes.subarray(0, left))
      left -= bytes.length
    }
    this.close()
    return Buffer.concat(parts).toString('utf8')
  }

  private async guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (thrown) {
      this.watch.signal.throwIfAborted()
      throw this.fail(this.failures.network(thrown))
    }
  }

  private checked<T>(work: () => T): T {
    try {
      return work()
    } catch (failure) {
      throw this.fail(failure as LlmError)
    }
  }

  private fail(failure: LlmError): LlmError {
    return (this.failure ??= failure)
  }
}
