import { assertTimeout, iterateWithin, withTimeout } from '@loopguard/timeout'

interface Options {
  readonly abortSignal?: AbortSignal | undefined
}

type Execute = (input: unknown, options: Options | undefined) => unknown

/**
 * The tool with a budget of `timeoutMs` milliseconds for each call. When it is used up, the `abortSignal` that `execute` gets aborts; once
 * `execute` has settled, the call fails with a `ToolTimeoutError`. For a tool that yields, the budget is for all of it.
 *
 * A tool without `execute` is run elsewhere and comes back as it is, with a warning on the console.
 *
 * @throws RangeError `TIMEOUT_OUT_OF_RANGE`
 */
export function timeLimited<T extends { readonly execute?: unknown }>(tool: T, timeoutMs: number): T {
  assertTimeout('timeLimited: timeoutMs', timeoutMs)
  const { execute } = tool
  if (typeof execute !== 'function') {
    console.warn('@loopguard/guards-ai-sdk: timeLimited got a tool without `execute`, which runs elsewhere and has no budget')
    return tool
  }
  // A tool may be an instance of a class that its host asks for.
  const copy = Object.assign(Object.create(Object.getPrototypeOf(tool) as object | null) as T, tool)
  return Object.assign(copy, { execute: limited(execute.bind(tool) as Execute, timeoutMs) })
}

function limited(execute: Execute, timeoutMs: number): Execute {
  return (input, options) => {
    const upstream = options?.abortSignal
    if (upstream?.aborted === true) return withTimeout(() => undefined, timeoutMs, upstream)
    // Whether the tool yields shows when it is called, and the SDK wants its iterable at once: so it is called before its budget is armed.
    const relay = new AbortController()
    const started = execute(input, { ...options, abortSignal: relay.signal })
    const joined = (signal: AbortSignal): typeof started => {
      signal.addEventListener('abort', () => relay.abort(signal.reason), { once: true })
      return started
    }
    return isAsyncIterable(started)
      ? iterateWithin((signal) => joined(signal) as typeof started, timeoutMs, upstream)
      : withTimeout(joined, timeoutMs, upstream)
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}
