import { Agent, type ToolsInput } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { repeatToolReminder, timeLimited } from '@loopguard/guards-ai-sdk'
import * as ai6 from 'ai6'
import type { MockLanguageModelV3 } from 'ai6/test'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { modelOf, remindersIn, type Script } from './support/sdk.ts'

const schema = z.object({ path: z.string().optional(), line: z.number().optional() })

function agentOf(script: Script, tools: ToolsInput) {
  const { model, prompts } = modelOf('ai 6', script)
  const wrapped = ai6.wrapLanguageModel({ model: model as MockLanguageModelV3, middleware: repeatToolReminder() })
  return { agent: new Agent({ id: 'a', name: 'a', instructions: 'Work.', model: wrapped, tools }), prompts }
}

it.each(['generate', 'stream'] as const)(
  'reminds Mastra at the third and fifth equal call, and times a hanging tool out: %s',
  async (door) => {
    const look = createTool({ id: 'look', description: '', inputSchema: schema, execute: async () => 'the same' })
    const hang = timeLimited(
      createTool({
        id: 'hang',
        description: '',
        inputSchema: schema,
        execute: async (_input, { abortSignal }) => {
          await new Promise<void>((resolve) => abortSignal?.addEventListener('abort', () => resolve()))
          return 'late'
        },
      }),
      20,
    )
    const args = (turned: boolean): object => (turned ? { line: 1, path: 'a' } : { path: 'a', line: 1 })
    const calls = [false, true, false, true, false].map((turned) => [{ name: 'look', args: args(turned) }])
    const { agent, prompts } = agentOf([...calls, [{ name: 'hang', args: {} }], 'done'], { look, hang })
    if (door === 'generate') await agent.generate('go', { maxSteps: 10 })
    else await (await agent.stream('go', { maxSteps: 10 })).consumeStream()
    expect(remindersIn(prompts)).toEqual([0, 0, 0, 1, 1, 2, 2])
    expect(JSON.stringify(prompts.at(-1))).toContain('tool call timed out after 20ms')
  },
)
