import { assertTimeout, ToolTimeoutError, withTimeout } from '@loopguard/timeout'
import { ToolMessage } from 'langchain'

/** Of the second argument of a tool's function, what the budget needs. */
export interface ToolConfig {
  readonly signal?: AbortSignal | undefined
  readonly toolCall?: { readonly id?: string | undefined; readonly name?: string | undefined } | undefined
}

/**
 * The function that is given to `tool()`, with a budget of `timeoutMs` milliseconds for each call. When it is used up, the `signal` of its
 * second argument aborts; once the function has settled, the call comes to a `ToolMessage` with the status `error`. An error that is thrown
 * would not do: what the model reads of it, and whether the agent goes on, depends on its other middleware. Without a call of a model to answer,
 * a `ToolTimeoutError` is thrown.
 *
 * @throws RangeError `TIMEOUT_OUT_OF_RANGE`
 */
export function timeLimited<A, C extends ToolConfig, R>(
  body: (args: A, config: C) => R | PromiseLike<R>,
  timeoutMs: number,
): (args: A, config: C) => Promise<R | ToolMessage> {
  assertTimeout('timeLimited: timeoutMs', timeoutMs)
  return async (args, config) => {
    try {
      return await withTimeout((signal) => body(args, { ...config, signal }), timeoutMs, config.signal)
    } catch (error) {
      const { id, name } = config.toolCall ?? {}
      if (!(error instanceof ToolTimeoutError) || id === undefined) throw error
      return new ToolMessage({ status: 'error', content: `Error: ${error.message}`, tool_call_id: id, ...(name !== undefined && { name }) })
    }
  }
}
