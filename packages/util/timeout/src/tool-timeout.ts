import { assertTimeout, checkSource } from './bounds.ts'
import { deadline } from './deadline.ts'

/** Code of a call that outlived its budget. */
export const TOOL_TIMEOUT = 'TOOL_TIMEOUT'

/** The call outlived its budget, also if it succeeded in the end. What it threw then, if it did, is the `cause`. */
export class ToolTimeoutError extends Error {
  static {
    Object.defineProperty(ToolTimeoutError.prototype, 'name', { value: 'ToolTimeoutError', writable: true, configurable: true })
  }

  readonly code: typeof TOOL_TIMEOUT = TOOL_TIMEOUT
  /** The budget that ran out, in milliseconds. */
  readonly timeoutMs: number

  constructor(timeoutMs: number, options?: ErrorOptions) {
    super(`tool call timed out after ${timeoutMs}ms`, options)
    this.timeoutMs = timeoutMs
  }
}

/**
 * What `body` comes to within `timeoutMs` milliseconds. It is not raced: when the time is up its signal aborts, and the promise waits until
 * the body has settled. Then it rejects with a {@link ToolTimeoutError}, also for a late success. An abort of `upstream` that comes first
 * is handed on to the body and is never a timeout; one that came before the call rejects with its reason, and `body` is not called.
 *
 * Rejects with a `RangeError` `TIMEOUT_OUT_OF_RANGE` or a `TypeError` `TIMEOUT_BAD_ARGUMENT` for arguments that cannot be meant.
 */
export async function withTimeout<T>(
  body: (signal: AbortSignal) => T | PromiseLike<T>,
  timeoutMs: number,
  upstream?: AbortSignal,
): Promise<T> {
  check('withTimeout', timeoutMs, upstream)
  if (upstream?.aborted === true) throw upstream.reason
  const limit = deadline(upstream, timeoutMs, TOOL_TIMEOUT)
  try {
    const value = await body(limit.signal)
    if (limit.expiry === undefined) return value
  } catch (error) {
    throw limit.expiry === undefined ? error : new ToolTimeoutError(timeoutMs, { cause: error })
  } finally {
    limit[Symbol.dispose]()
  }
  throw new ToolTimeoutError(timeoutMs)
}

/**
 * The same for a body that yields: one budget for all of it, from the first demand to the end, pauses of the consumer included. When the
 * time is up the signal aborts; what is yielded from then on is dropped, the body is closed and waited for, and the demand rejects with a
 * {@link ToolTimeoutError}. `body` is called with the first demand. To be iterated once.
 *
 * @throws RangeError `TIMEOUT_OUT_OF_RANGE`, TypeError `TIMEOUT_BAD_ARGUMENT`; at once.
 */
export function iterateWithin<T>(
  body: (signal: AbortSignal) => AsyncIterable<T>,
  timeoutMs: number,
  upstream?: AbortSignal,
): AsyncIterable<T> {
  check('iterateWithin', timeoutMs, upstream)
  return iterate(body, timeoutMs, upstream)
}

async function* iterate<T>(
  body: (signal: AbortSignal) => AsyncIterable<T>,
  timeoutMs: number,
  upstream: AbortSignal | undefined,
): AsyncGenerator<T, void, undefined> {
  if (upstream?.aborted === true) throw upstream.reason
  const limit = deadline(upstream, timeoutMs, TOOL_TIMEOUT)
  try {
    for await (const value of body(limit.signal)) {
      if (limit.expiry === undefined) yield value
      if (limit.expiry !== undefined) break
    }
  } catch (error) {
    throw limit.expiry === undefined ? error : new ToolTimeoutError(timeoutMs, { cause: error })
  } finally {
    limit[Symbol.dispose]()
  }
  if (limit.expiry !== undefined) throw new ToolTimeoutError(timeoutMs)
}

function check(door: string, timeoutMs: number, upstream: AbortSignal | undefined): void {
  assertTimeout(`${door}: timeoutMs`, timeoutMs)
  checkSource(door, upstream, TOOL_TIMEOUT)
}
