import { setTimeout as sleep } from 'node:timers/promises'
import { Context } from '@deepseek-ai/cordis'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import ToolRuntime, { defineTool } from '@loopguard/tools'

export const ctx: Context = new Context()
await ctx.plugin(ToolRuntime)
await ctx.plugin(timeoutPolicy)

ctx.tools.register(
  defineTool<{ ms: number }>({
    name: 'sleep',
    description: 'Sleep for a while',
    parameters: { type: 'object', properties: { ms: { type: 'number' } }, required: ['ms'] },
    timeoutMs: 100, // the budget of each call, and the promise that the body forwards its signal
    async execute({ ms }, exec) {
      await sleep(ms, undefined, { signal: exec.signal })
      return 'slept well'
    },
  }),
)
