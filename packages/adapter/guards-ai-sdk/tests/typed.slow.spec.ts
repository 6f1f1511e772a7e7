// That this file compiles is what it tests first: the same adapter under the types of three versions, without a cast.
import { repeatToolReminder, timeLimited } from '@loopguard/guards-ai-sdk'
import * as ai5 from 'ai5'
import { MockLanguageModelV2 } from 'ai5/test'
import * as ai6 from 'ai6'
import { MockLanguageModelV3 } from 'ai6/test'
import * as ai7 from 'ai7'
import { MockLanguageModelV4 } from 'ai7/test'
import { expect, it } from 'vitest'
import { z } from 'zod'

const inputSchema = z.object({ path: z.string() })
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
}
const finishReason = { unified: 'stop' as const, raw: undefined }
const content = [{ type: 'text' as const, text: 'done' }]

it('fits ai 5', async () => {
  const answer = { content, finishReason: 'stop' as const, usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, warnings: [] }
  const model = ai5.wrapLanguageModel({ model: new MockLanguageModelV2({ doGenerate: answer }), middleware: repeatToolReminder() })
  const look = timeLimited(ai5.tool({ description: '', inputSchema, execute: ({ path }) => path.length }), 1_000)
  const agent = new ai5.Experimental_Agent({ model, tools: { look } })
  expect((await ai5.generateText({ model, tools: { look }, prompt: 'go' })).text).toBe('done')
  expect((await agent.generate({ prompt: 'go' })).text).toBe('done')
})

it('fits ai 6', async () => {
  const answer = { content, finishReason, usage, warnings: [] }
  const model = ai6.wrapLanguageModel({ model: new MockLanguageModelV3({ doGenerate: answer }), middleware: [repeatToolReminder()] })
  const look = timeLimited(ai6.tool({ description: '', inputSchema, execute: ({ path }) => path.length }), 1_000)
  const agent = new ai6.ToolLoopAgent({ model, tools: { look } })
  expect((await ai6.generateText({ model, tools: { look }, prompt: 'go' })).text).toBe('done')
  expect((await agent.generate({ prompt: 'go' })).text).toBe('done')
})

it('fits ai 7', async () => {
  const answer = { content, finishReason, usage, warnings: [] }
  const model = ai7.wrapLanguageModel({ model: new MockLanguageModelV4({ doGenerate: answer }), middleware: [repeatToolReminder()] })
  const look = timeLimited(ai7.tool({ description: '', inputSchema, execute: ({ path }) => path.length }), 1_000)
  const agent = new ai7.ToolLoopAgent({ model, tools: { look } })
  expect((await ai7.generateText({ model, tools: { look }, prompt: 'go' })).text).toBe('done')
  expect((await agent.generate({ prompt: 'go' })).text).toBe('done')
})

/** Never called: what the compiler has to refuse. */
export function refused(): void {
  // @ts-expect-error -- a threshold is a number
  repeatToolReminder({ thresholds: ['3'] })
  // @ts-expect-error -- milliseconds are a number
  timeLimited(ai7.tool({ inputSchema, execute: () => 1 }), '5')
  // @ts-expect-error -- the tool keeps its type: its input has a path
  void timeLimited(ai7.tool({ inputSchema, execute: ({ path }) => path }), 5).execute({ line: 1 }, {})
}
