import { setTimeout } from 'node:timers/promises'
import { repeatToolReminder, timeLimited } from '@loopguard/guards-ai-sdk'
import { tool, ToolLoopAgent, wrapLanguageModel } from 'ai'
import { z } from 'zod'

const build = tool({
  description: 'Builds the project',
  inputSchema: z.object({ target: z.string() }),
  async *execute({ target }, { abortSignal: signal }) {
    yield `building ${target}`
    await setTimeout(3_600_000, undefined, { signal }) // stands for a build that hangs
    yield `built ${target}`
  },
})

type Model = Parameters<typeof wrapLanguageModel>[0]['model']

export const builder = (model: Model) =>
  new ToolLoopAgent({
    model: wrapLanguageModel({ model, middleware: repeatToolReminder() }),
    tools: { build: timeLimited(build, 50) },
  })
