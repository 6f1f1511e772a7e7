import { readFile } from 'node:fs/promises'
import { repeatToolReminder, timeLimited } from '@loopguard/guards-openai-agents'
import { Agent, type Model, tool } from '@openai/agents-core'
import { z } from 'zod'

const read = tool({
  name: 'read',
  description: 'Reads a text file',
  parameters: z.object({ path: z.string() }),
  execute: timeLimited(({ path }: { path: string }, _context, { signal }) => readFile(path, { encoding: 'utf8', signal }), 30_000),
})

const guarded = repeatToolReminder({ exclude: ['todo_*'] })

export const reader = (model: Model) => new Agent({ name: 'reader', model: guarded(model), tools: [read] })
