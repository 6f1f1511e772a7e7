import { checkSource, isTimerDelay, outOfRange, timerDelay } from './bounds.ts'
import { FirstCause } from './first-cause.ts'
import type { TimeoutReason } from './reason.ts'

/** A timeout around one outstanding demand of an async iterator, armed anew for each. */
export interface IdleWatchdog {
  /** One signal for the whole life: aborted with the upstream's own reason, or with a {@link TimeoutReason} after an idle demand. */
  readonly signal: AbortSignal
  /** This very watchdog's reason, once its own timer has won. */
  readonly expiry: TimeoutReason | undefined
  /**
   * Demands the next value, and watches while that is outstanding: what the consumer does between two demands is never idle time.
   * It notifies and does not race: the iterator must observe {@link signal}, and what it answers in the end is what you get, also
   * when that comes late.
   *
   * Rejects without a call of the iterator: with the reason once `signal` has aborted; with code `WATCHDOG_BUSY` while another demand
   * is outstanding; with code `WATCHDOG_DISPOSED` after disposal.
   */
  next<T, R = unknown>(iterator: AsyncIterator<T, R>): Promise<IteratorResult<T, R>>
  /** Sign of life that is no value (a keep-alive, a header): an outstanding demand gets its whole time again. Otherwise a no-op. */
  pulse(): void
  /** Clears the timer and lets go of the upstream. An outstanding demand still settles as the iterator does. Idempotent. */
  [Symbol.dispose](): void
}

/**
 * Makes a watchdog that lets a demand be idle for `timeoutMs` milliseconds. Dispose of it where the stream ends.
 *
 * @param code the owner's code, which {@link TimeoutReason} carries.
 * @throws {RangeError} code `TIMEOUT_OUT_OF_RANGE`: `timeoutMs` is not positive, not finite, or above `MAX_TIMER_DELAY_MS`.
 * @throws {TypeError} code `TIMEOUT_BAD_ARGUMENT`: `upstream` is no signal, or `code` no string.
 */
export function idleWatchdog(upstream: AbortSignal | undefined, timeoutMs: number, code: string): IdleWatchdog {
  if (!isTimerDelay(timeoutMs)) throw outOfRange('idleWatchdog: timeoutMs', timeoutMs, timerDelay)
  checkSource('idleWatchdog', upstream, code)
  return new Watchdog(new FirstCause(upstream, timeoutMs, code))
}

class Watchdog implements IdleWatchdog {
  private readonly cause: FirstCause
  private outstanding = false
  private disposed = false

  constructor(cause: FirstCause) {
    this.cause = cause
  }

  get signal(): AbortSignal {
    return this.cause.signal
  }

  get expiry(): TimeoutReason | undefined {
    return this.cause.expiry
  }

  async next<T, R>(iterator: AsyncIterator<T, R>): Promise<IteratorResult<T, R>> {
    this.cause.signal.throwIfAborted()
    if (this.disposed) throw refusal('WATCHDOG_DISPOSED', 'the watchdog is disposed: make one per stream')
    if (this.outstanding) throw refusal('WATCHDOG_BUSY', 'a demand is already outstanding: await it before the next')
    this.outstanding = true
    this.cause.arm()
    try {
      return await iterator.next()
    } finally {
      this.outstanding = false
      this.cause.disarm()
    }
  }

  pulse(): void {
    if (!this.outstanding || this.disposed || this.cause.signal.aborted) return
    this.cause.disarm()
    this.cause.arm()
  }

  [Symbol.dispose](): void {
    this.disposed = true
    this.cause[Symbol.dispose]()
  }
}

function refusal(code: string, message: string): Error {
  return Object.assign(new Error(`idleWatchdog: ${message}`), { code })
}
