import { readFile } from 'node:fs/promises'
import { repeatToolReminder, timeLimited } from '@loopguard/guards-claude-code'

/** `query({ prompt, options })` of the Agent SDK. */
export const options = { hooks: repeatToolReminder({ exclude: ['TodoWrite'] }) }

/** `tool('read', 'Reads a text file', { path: z.string() }, handler)` of the Agent SDK. */
export const handler = timeLimited(async ({ path }: { path: string }, { signal }) => {
  const text = await readFile(path, { encoding: 'utf8', signal })
  return { content: [{ type: 'text' as const, text }] }
}, 30_000)
