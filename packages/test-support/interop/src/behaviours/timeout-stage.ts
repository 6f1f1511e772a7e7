import type { MountedHost, Result, ToolRun } from '../host.ts'
import { type Clock, onFakeClock } from '../clock.ts'
import { type Behaviour, type ExecuteListener, type Stage } from '../stage.ts'

export const BUDGET = 1_000
export const CALL = { name: 'hang', arguments: {} }

/** Settles with the abort of the signal; rejects with its reason, as `fetch` would. */
export function untilAborted({ signal }: Pick<ToolRun, 'signal'>): Promise<string> {
  return new Promise((_resolve, reject) => {
    const stop = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error(`aborted: ${String(signal.reason)}`))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}

/** A body that hears the abort, and takes its time over it: it settles when `finish` is called. */
export function stubborn(): { readonly run: (call: ToolRun) => Promise<string>; readonly finish: (value: string) => void } {
  let finish: (value: string) => void = () => undefined
  const settled = new Promise<string>((resolve) => (finish = resolve))
  const run = ({ signal }: ToolRun): Promise<string> => {
    signal.addEventListener('abort', () => undefined, { once: true })
    return settled
  }
  return { run, finish: (value) => finish(value) }
}

/** A behaviour on the fake clock, with the timeout policy loaded. */
export function onClock(id: string, says: string, run: (stage: Stage, clock: Clock) => Promise<void>): Behaviour {
  return {
    id,
    says,
    guard: 'timeout-policy',
    run: (stage) =>
      onFakeClock(async (clock) => {
        await stage.host.plug(stage.subject.timeoutPolicy)
        await run(stage, clock)
      }),
  }
}

/** Starts the call, lets `ms` pass, and gives its result. */
export async function after(clock: Clock, ms: number, call: Promise<Result>): Promise<Result> {
  await clock.pass(ms)
  return call
}

export const TIMED_OUT = {
  isError: true,
  content: [{ type: 'text', text: `Error: tool call timed out after ${BUDGET}ms` }],
  error: { message: `tool call timed out after ${BUDGET}ms`, info: { name: 'ToolTimeoutError', code: 'TOOL_TIMEOUT' } },
}

export function codeOf(result: Result): string | undefined {
  return result.error?.info?.code
}

/** The signals that a wrapper outside the guard sees before and after the rest has run. */
export function watchSignal(host: MountedHost): AbortSignal[] {
  const seen: AbortSignal[] = []
  const listener: ExecuteListener = async (exec, next) => {
    seen.push(exec.signal)
    try {
      return await next()
    } finally {
      seen.push(exec.signal)
    }
  }
  host.on('tools/execute', listener)
  return seen
}
