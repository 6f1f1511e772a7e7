import { readFile } from 'node:fs/promises'
import { repeatToolReminder, timeLimited } from '@loopguard/guards-langchain'
import { createAgent, tool } from 'langchain'
import { z } from 'zod'

const read = tool(
  timeLimited(({ path }: { path: string }, { signal }: { signal?: AbortSignal }) => readFile(path, { encoding: 'utf8', signal }), 30_000),
  { name: 'read', description: 'Reads a text file', schema: z.object({ path: z.string() }) },
)

type Model = Parameters<typeof createAgent>[0]['model']

export const reader = (model: Model) => createAgent({ model, tools: [read], middleware: [repeatToolReminder({ exclude: ['todo_*'] })] })
