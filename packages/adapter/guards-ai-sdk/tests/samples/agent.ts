import { readFile } from 'node:fs/promises'
import { repeatToolReminder, timeLimited } from '@loopguard/guards-ai-sdk'
import { generateText, stepCountIs, tool, wrapLanguageModel } from 'ai'
import { z } from 'zod'

const read = tool({
  description: 'Reads a text file',
  inputSchema: z.object({ path: z.string() }),
  execute: ({ path }, { abortSignal: signal }) => readFile(path, { encoding: 'utf8', signal }),
})

type Model = Parameters<typeof wrapLanguageModel>[0]['model']

export async function answer(model: Model, prompt: string): Promise<string> {
  const { text } = await generateText({
    model: wrapLanguageModel({ model, middleware: repeatToolReminder({ exclude: ['todo_*'] }) }),
    tools: { read: timeLimited(read, 30_000) },
    stopWhen: stepCountIs(50),
    prompt,
  })
  return text
}
