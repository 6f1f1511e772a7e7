import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFailureTracker, createRepeatTracker, isReminder } from '@loopguard/repeat'
import { expect, it } from 'vitest'
import { reminded } from './samples/fold.ts'
import { observed } from './samples/tracker.ts'

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)\\n\`\`\`$`, 'gms'))].map(([, text]) => text as string)

it('fold: a transcript in the chat-completions format gets its reminders', () => {
  const step = (id: string, name = 'look', text = '{"path":"a"}') => [
    { role: 'assistant' as const, content: '', tool_calls: [{ id, function: { name, arguments: text } }] },
    { role: 'tool' as const, content: 'nothing new', tool_call_id: id },
  ]
  const messages = [{ role: 'user' as const, content: 'go' }, ...step('1'), ...step('2'), ...step('3', 'todo_write'), ...step('4')]
  expect(reminded(messages).slice(messages.length)).toEqual([
    { role: 'user', content: expect.stringMatching(/^You are repeating/) as string },
  ])
  const broken = ['1', '2', '3'].flatMap((id) => step(id, 'look', '{"path"'))
  expect(reminded(broken)).toHaveLength(7)
})

it('tracker: a run goes on from process to process', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'repeat-'))
  const file = join(folder, 'chain.json')
  const said: boolean[] = []
  for (let call = 1; call <= 5; call++) said.push((await observed(file, 'look', { path: 'a' })) !== undefined)
  expect(said).toEqual([false, false, true, false, true])
  expect(await readFile(file, 'utf8')).not.toContain('path')
  await rm(folder, { recursive: true })
})

it('the texts are those that are shown', () => {
  const tracker = createRepeatTracker()
  const agent = {}
  const said = Array.from({ length: 5 }, () => tracker.observe(agent, 'look', { path: 'a.txt' }))
  expect(said.filter((text) => text !== undefined)).toEqual(blocks('text').slice(0, 2))
  const failures = createFailureTracker()
  const failed = [1, 2, 3].map(() => failures.observe(agent, 'look', { path: 'a.txt' }, { isError: true, text: 'no such file' }))
  expect(failed.at(-1)).toBe(blocks('text')[2])
  expect(blocks('text').every(isReminder)).toBe(true)
})
