import type { Context } from '@deepseek-ai/cordis'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import type {} from '@loopguard/tools'

/** Runs a call that failed again: three attempts, none after an abort. */
const retry = {
  name: 'retry',
  apply(ctx: Context) {
    ctx.on('tools/execute', async (exec, next) => {
      for (let attempt = 1; ; attempt++) {
        const result = await next()
        if (!result.isError || attempt === 3 || exec.signal.aborted) return result
      }
    })
  },
}

/** Registered earlier is outer. Retry outside: each attempt has a deadline of its own. */
export async function deadlinePerAttempt(ctx: Context): Promise<void> {
  await ctx.plugin(retry)
  await ctx.plugin(timeoutPolicy)
}

/** Retry inside: one deadline covers all attempts. */
export async function deadlineForAll(ctx: Context): Promise<void> {
  await ctx.plugin(timeoutPolicy)
  await ctx.plugin(retry)
}
