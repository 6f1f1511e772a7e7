import { companion, type Companion } from '@loopguard/invariants/companion'
import type { ToolExecutionResult } from '@loopguard/tools'

/** Timers may fire a little early, and the clock that checks them is another one. */
const TOLERANCE_MS = 2

const plugin: Companion = companion({
  name: 'timeout-policy-invariant',
  packageName: '@loopguard/timeout-policy',
  inject: ['tools'],
  install(ctx, fail) {
    ctx.on(
      'tools/execute',
      async (exec, next) => {
        const caller = exec.signal
        const startedAt = performance.now()
        const restored = (): void => {
          if (exec.signal !== caller)
            fail(`call "${exec.callId}" of tool "${exec.name}": exec.signal is not the caller's after the execute stage`)
        }
        let result: ToolExecutionResult
        try {
          result = await next()
        } catch (error) {
          restored()
          throw error
        }
        restored()
        const elapsedMs = performance.now() - startedAt
        const budgetMs = budgetOf(result)
        if (budgetMs !== undefined && elapsedMs < budgetMs - TOLERANCE_MS) {
          fail(
            `call "${exec.callId}" of tool "${exec.name}": reported as timed out after ${budgetMs}ms when ${Math.round(elapsedMs)}ms had passed`,
          )
        }
        return result
      },
      { prepend: true },
    )
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Checks that the caller's signal is back after the execute stage, and that no time-out is reported before its budget. */
export const apply: Companion['apply'] = plugin.apply

/** The budget that a result says was outlived. A tool's own error with the code `TOOL_TIMEOUT` is not the policy's. */
function budgetOf(result: ToolExecutionResult): number | undefined {
  if (!result.isError || result.error.info?.name !== 'ToolTimeoutError' || result.error.info.code !== 'TOOL_TIMEOUT') return undefined
  const [, ms] = /^tool call timed out after ([\d.e+]+)ms$/.exec(result.error.message) ?? []
  return ms === undefined ? undefined : Number(ms)
}
