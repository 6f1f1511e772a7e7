import { Context, type Plugin } from '@deepseek-ai/cordis'
import { CallId } from '@loopguard/llm'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import ToolRuntime from '@loopguard/tools'

/** Two attempts, the second when the first failed. */
const retry = {
  name: 'retry',
  apply(ctx: Context): void {
    ctx.on('tools/execute', async (exec, next) => {
      const result = await next()
      return result.isError && !exec.signal.aborted ? next() : result
    })
  },
}

/** Runs a tool that hangs at first and answers the second time, and says what the caller got after how many attempts. */
async function run(plugins: readonly Plugin[]): Promise<string> {
  const ctx = new Context()
  await ctx.plugin(ToolRuntime)
  for (const plugin of plugins) await ctx.plugin(plugin)
  let attempts = 0
  ctx.tools.register({
    name: 'flaky',
    description: '',
    parameters: {},
    timeoutMs: 30,
    execute: (_args, { signal }) =>
      ++attempts === 1
        ? new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
        : 'at last',
  })
  const { signal } = new AbortController()
  const { content } = await ctx.tools.execute({ callId: CallId('1'), name: 'flaky', arguments: {}, signal })
  const [block] = content
  await ctx.fiber.dispose()
  return `${block?.type === 'text' ? block.text : ''} (${attempts} attempts)`
}

/** A deadline for each attempt. */
export const retryOutside = (): Promise<string> => run([retry, timeoutPolicy])

/** One deadline for all attempts. */
export const retryInside = (): Promise<string> => run([timeoutPolicy, retry])
