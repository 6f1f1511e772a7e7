import { readFile } from 'node:fs/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { parse } from 'yaml'
import { item, readBy, stage } from './host.ts'

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?\\n)\`\`\`$`, 'gms'))].map(([, text]) => text as string)

it('the smallest example runs, and the model reads the very texts that are shown', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  const { harness } = await import('./samples/smallest.ts')
  onTestFinished(() => harness.dispose())
  const [agent] = harness.ctx.agentLoop.list()
  expect(readBy(agent!).map((text) => `${text}\n`)).toEqual([blocks('text')[0]])
  expect(log.mock.calls[0]?.[0]).toHaveLength(3)
  const { write } = await stage()
  const [error] = await write({ todos: [item('a', 'in_progress'), item('b'), item('c', 'in_progress')] })
  expect(`${error}\n`).toBe(blocks('text')[1])
})

it('the rows that it shows are those of the example', async () => {
  const example = parse(await readFile(new URL('../../../../examples/todo-list/cordis.yml', import.meta.url), 'utf8')) as unknown[]
  const rows = parse(blocks('yaml')[0] as string) as unknown[]
  expect(rows).toHaveLength(2)
  for (const row of rows) expect(example).toContainEqual(row)
})
