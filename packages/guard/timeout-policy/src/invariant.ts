import { companion, type Companion, listen } from '@loopguard/invariants/companion'
import type { ToolExecutionResult } from '@loopguard/tools'

/** Timers may fire a little early, and the clock that checks them is another one. */
const TOLERANCE_MS = 2

const plugin: Companion = companion({
  name: 'timeout-policy-invariant',
  packageName: '@loopguard/timeout-policy',
  install(ctx, fail) {
    listen(
      ctx,
      'tools/execute',
      async (exec, next) => {
        const caller = exec.signal
        const elapsed = stopwatch()
        const judge = (complaint: string | undefined): void => {
          if (complaint !== undefined) fail(`call "${exec.callId}" of tool "${exec.name}": ${complaint}`)
        }
        const left = (): string | undefined =>
          exec.signal === caller ? undefined : "exec.signal is not the caller's after the execute stage"
        let result: ToolExecutionResult
        try {
          result = await next()
        } catch (error) {
          judge(left())
          throw error
        }
        judge(left() ?? early(result, elapsed()))
        return result
      },
      { prepend: true },
    )
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Checks that the caller's signal is back after the execute stage, and that no timeout is reported before its budget. */
export const apply: Companion['apply'] = plugin.apply

/** Another host may let a wrapper return nothing: that is for the host to judge. */
function early(result: ToolExecutionResult | undefined, elapsedMs: number | undefined): string | undefined {
  const budgetMs = budgetOf(result)
  if (budgetMs === undefined || elapsedMs === undefined || elapsedMs >= budgetMs - TOLERANCE_MS) return undefined
  return `it was reported as timed out after ${budgetMs}ms when ${Math.round(elapsedMs)}ms had passed`
}

/** The budget that a result says was outlived. A tool's own error with the code `TOOL_TIMEOUT` is not the policy's. */
function budgetOf(result: ToolExecutionResult | undefined): number | undefined {
  if (result?.isError !== true || result.error.info?.name !== 'ToolTimeoutError' || result.error.info.code !== 'TOOL_TIMEOUT')
    return undefined
  const [, ms] = /^tool call timed out after ([\d.e+-]+)ms$/.exec(result.error.message) ?? []
  return ms === undefined ? undefined : Number(ms)
}

/** What timers are armed with, and what the time is read from. */
const clocks = (): readonly [unknown, unknown] => [setTimeout, Reflect.get(performance, 'now')]

const REAL = clocks()

/**
 * Measures the milliseconds since it was started; `undefined` when they are no measure of a timer's: the fake clocks of tests may stand
 * in for the timers alone, or come and go meanwhile.
 */
function stopwatch(): () => number | undefined {
  const [timers, now] = clocks()
  const isWhole = (timers === REAL[0]) === (now === REAL[1])
  const startedAt = performance.now()
  return () => {
    const elapsedMs = performance.now() - startedAt
    const [sameTimers, sameNow] = clocks()
    return isWhole && sameTimers === timers && sameNow === now ? elapsedMs : undefined
  }
}
