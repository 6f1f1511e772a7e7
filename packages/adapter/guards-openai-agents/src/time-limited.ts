import { assertTimeout, ToolTimeoutError, withTimeout } from '@loopguard/timeout'

/** Of the third argument of `execute`, what the budget needs. */
interface Details {
  readonly signal?: AbortSignal
  readonly toolCall?: unknown
}

/**
 * The function that is given to `tool()` as `execute`, with a budget of `timeoutMs` milliseconds for each call. When it is used up, the
 * `signal` of its third argument aborts; once the function has settled, the call comes to the text `Error: tool call timed out after <ms>ms`. An
 * error that is thrown would not do: of those, the SDK tells the model no more than to try again. Without a call of a model to answer, a
 * `ToolTimeoutError` is thrown. Leave the `timeoutMs` of the SDK out: it does not wait for the function.
 *
 * @throws RangeError `TIMEOUT_OUT_OF_RANGE`
 */
export function timeLimited<A, C, D extends Details, R>(
  execute: (input: A, context: C, details: D & { readonly signal: AbortSignal }) => R | PromiseLike<R>,
  timeoutMs: number,
): (input: A, context: C, details?: D) => Promise<R | string> {
  assertTimeout('timeLimited: timeoutMs', timeoutMs)
  return async (input, context, details) => {
    try {
      return await withTimeout((signal) => execute(input, context, { ...(details as D), signal }), timeoutMs, details?.signal)
    } catch (error) {
      if (!(error instanceof ToolTimeoutError) || details?.toolCall === undefined) throw error
      return `Error: ${error.message}`
    }
  }
}
