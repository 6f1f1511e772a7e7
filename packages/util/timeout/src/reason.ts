const brand = Symbol.for('@loopguard/timeout/reason')

/**
 * Why a signal aborted when its time was up. It is an abort reason and nothing else: the owner of the work turns it into a public
 * outcome, and {@link timeoutOf} recognises it.
 */
export class TimeoutReason extends Error {
  static {
    Object.defineProperty(TimeoutReason.prototype, 'name', { value: 'TimeoutReason', writable: true, configurable: true })
    // Registered, so that a second loaded copy of this package knows the reasons of the first: `instanceof` would not.
    Object.defineProperty(TimeoutReason.prototype, brand, { value: true })
  }

  /** The owner's code, as it was given to the deadline. */
  readonly code: string
  /** The budget that ran out, in milliseconds. */
  readonly timeoutMs: number

  constructor(code: string, timeoutMs: number) {
    super(`${code} after ${timeoutMs}ms`)
    this.code = code
    this.timeoutMs = timeoutMs
  }
}

/**
 * The timeout behind an aborted signal, or behind anything else that carries a `reason`; `undefined` when it aborted for another
 * cause, or not at all. With `code`, only a timeout that has exactly this code.
 *
 * A code says which kind of deadline fired, not which one: to know that a deadline of your own fired, read its `expiry`.
 */
export function timeoutOf(x: AbortSignal | { reason?: unknown } | undefined, code?: string): TimeoutReason | undefined {
  const reason = x?.reason
  if (!isTimeoutReason(reason)) return undefined
  return code === undefined || reason.code === code ? reason : undefined
}

function isTimeoutReason(value: unknown): value is TimeoutReason {
  return typeof value === 'object' && value !== null && brand in value
}
