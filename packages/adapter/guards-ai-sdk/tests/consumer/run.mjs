import { repeatToolReminder, timeLimited } from '@loopguard/guards-ai-sdk'
import { generateText, stepCountIs, tool, wrapLanguageModel } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { z } from 'zod'

const reminders = []
const model = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => {
    reminders.push(JSON.stringify(prompt).split('You are repeating').length - 1)
    const isLast = reminders.length === 4
    const call = { type: 'tool-call', toolCallId: String(reminders.length), toolName: 'look', input: '{}' }
    return {
      content: isLast ? [{ type: 'text', text: 'done' }] : [call],
      finishReason: { unified: isLast ? 'stop' : 'tool-calls', raw: undefined },
      usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
      warnings: [],
    }
  },
})
const look = tool({ inputSchema: z.object({}), execute: () => 'the same' })
await generateText({
  model: wrapLanguageModel({ model, middleware: repeatToolReminder() }),
  tools: { look: timeLimited(look, 1_000) },
  stopWhen: stepCountIs(9),
  prompt: 'go',
})
console.log(`reminders: ${reminders.join()}`)
