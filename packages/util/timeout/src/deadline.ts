import { checkSource, MAX_TIMER_DELAY_MS, outOfRange, timerDelay } from './bounds.ts'
import { FirstCause } from './first-cause.ts'
import type { TimeoutReason } from './reason.ts'

/** A signal that aborts with its upstream or when the time is up, whichever comes first. */
export interface Deadline {
  /** Aborted with the upstream's own reason, or with a {@link TimeoutReason}. It notifies; stopping the work stays with its owner. */
  readonly signal: AbortSignal
  /** This very deadline's reason, once its own timer has won; a nested deadline with the same code never shows here. */
  readonly expiry: TimeoutReason | undefined
  /** Clears the timer and lets go of the upstream: from here on the signal follows nothing. Idempotent. */
  [Symbol.dispose](): void
}

/**
 * Arms a deadline of `timeoutMs` milliseconds. Dispose of it on every path (`using`, or `finally`): until then, or until it has
 * aborted, it holds a timer and a place among the upstream's followers.
 *
 * `timeoutMs <= 0` is the internal "no timeout": no timer, and `signal` is `upstream` itself, or one that never aborts. An upstream
 * that has aborted already is handed through as well.
 *
 * @param code the owner's code, which {@link TimeoutReason} carries.
 * @throws {RangeError} code `TIMEOUT_OUT_OF_RANGE`: `timeoutMs` is no number, `NaN`, or above `MAX_TIMER_DELAY_MS`.
 * @throws {TypeError} code `TIMEOUT_BAD_ARGUMENT`: `upstream` is no signal, or `code` no string.
 */
export function deadline(upstream: AbortSignal | undefined, timeoutMs: number, code: string): Deadline {
  if (typeof timeoutMs !== 'number' || !(timeoutMs <= MAX_TIMER_DELAY_MS)) {
    throw outOfRange('deadline: timeoutMs', timeoutMs, `${timerDelay} (0 or less is none)`)
  }
  checkSource('deadline', upstream, code)
  if (timeoutMs <= 0 || upstream?.aborted) return new PassThrough(upstream ?? new AbortController().signal)
  const cause = new FirstCause(upstream, timeoutMs, code)
  cause.arm()
  return cause
}

/** A deadline without a timer: there is nothing to clear. */
class PassThrough implements Deadline {
  readonly signal: AbortSignal
  readonly expiry = undefined

  constructor(signal: AbortSignal) {
    this.signal = signal
  }

  [Symbol.dispose](): void {}
}
