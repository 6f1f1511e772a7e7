import { assertTimeout, withTimeout } from '@loopguard/timeout'

/**
 * The handler of a tool that the Agent SDK runs in its own process (`tool()`), with a budget of `timeoutMs` milliseconds for each call. When it
 * is used up, the `signal` in its second argument aborts; once the handler has settled, the call fails with a `ToolTimeoutError`. Tools that
 * are built into Claude Code cannot be bounded from outside.
 *
 * @throws RangeError `TIMEOUT_OUT_OF_RANGE`
 */
export function timeLimited<A, R>(
  handler: (args: A, extra: { readonly signal: AbortSignal }) => R | PromiseLike<R>,
  timeoutMs: number,
): (args: A, extra: unknown) => Promise<R> {
  assertTimeout('timeLimited: timeoutMs', timeoutMs)
  return (args, extra) => {
    const { signal: upstream } = Object(extra) as { signal?: AbortSignal }
    return withTimeout((signal) => handler(args, { ...(extra as object), signal }), timeoutMs, upstream)
  }
}
