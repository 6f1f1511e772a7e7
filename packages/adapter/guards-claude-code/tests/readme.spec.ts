import { fileURLToPath } from 'node:url'
import type { ReminderHooks } from '@loopguard/guards-claude-code'
import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { EVENTS } from '../src/event.ts'
import { run } from '../src/run.ts'
import { handler, options } from './samples/agent-sdk.ts'
import { batch, emptyFolder, look } from './support/events.ts'

const read = (path: string): Promise<string> => readFile(new URL(path, import.meta.url), 'utf8')
const pages = await Promise.all(['../README.md', '../../../../docs/other-loops/claude-code.md'].map(read))
const blocks = (language: string): string[] =>
  pages.flatMap((page) => [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, text]) => text as string))

it('the settings name the command of this package for each event that it needs, and options that it takes', async () => {
  const { bin } = JSON.parse(await read('../package.json')) as { bin: Record<string, string> }
  const [settings] = blocks('json').map((block) => JSON.parse(block) as { hooks: ReminderHooks })
  expect(Object.keys(settings?.hooks ?? {})).toEqual(EVENTS)
  const commands = Object.values(settings?.hooks ?? {}).map(([matcher]) => matcher?.hooks[0] as unknown as { command: string })
  const [name, option, config] = commands[0]?.command.split(/ (?=-|')/) ?? []
  expect(Object.keys(bin)).toContain(name)
  expect(new Set(commands.map(({ command }) => command)).size).toBe(1)
  const args = [option as string, (config as string).slice(1, -1), '--state', emptyFolder()]
  const todo = { tool_name: 'TodoWrite', tool_input: {} }
  expect([run(args, JSON.stringify(batch([todo, todo, todo])), {}), run(args, JSON.stringify(batch([look, look, look])), {})]).toEqual([
    '',
    expect.stringContaining('You are repeating') as string,
  ])
})

it('agent SDK: hooks that remind, and a handler that is bounded', async () => {
  const [hook] = options.hooks.PostToolBatch[0]?.hooks ?? []
  expect(await hook?.(batch([look, look, look]))).toHaveProperty('hookSpecificOutput.hookEventName', 'PostToolBatch')
  const { content } = await handler({ path: fileURLToPath(import.meta.url) }, {})
  expect(content[0]?.text).toContain('agent SDK')
})
