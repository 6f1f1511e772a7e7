import type { Context } from '@deepseek-ai/cordis'

export const name = 'retry'
export const inject = ['tools']

/** Tries a failed call once more. What is registered after this plugin runs anew in each attempt, a timeout policy for example. */
export function apply(ctx: Context): void {
  ctx.on('tools/execute', async (_exec, next) => {
    const result = await next()
    return result.isError ? next() : result
  })
}
