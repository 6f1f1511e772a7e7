import type { Context } from '@deepseek-ai/cordis'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import type {} from '@loopguard/tools'

/** Notes what became of each call. */
const metrics = {
  name: 'metrics',
  apply(ctx: Context, outcomes: string[]) {
    ctx.on('tools/execute', async (_exec, next) => {
      const result = await next()
      outcomes.push(result.isError ? (result.error.info?.code ?? 'FAILED') : 'OK')
      return result
    })
  },
}

/** Metrics outside: they note what the model is told, `TOOL_TIMEOUT` for a call that was late. */
export async function measureResults(ctx: Context, outcomes: string[]): Promise<void> {
  await ctx.plugin(metrics, outcomes)
  await ctx.plugin(timeoutPolicy)
}

/** Metrics inside: they note what the body came to, `OK` for one that succeeded late. */
export async function measureBodies(ctx: Context, outcomes: string[]): Promise<void> {
  await ctx.plugin(timeoutPolicy)
  await ctx.plugin(metrics, outcomes)
}
