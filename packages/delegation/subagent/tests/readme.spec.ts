import { readdir, readFile } from 'node:fs/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { Config } from '../src/config.ts'
import { stage } from './support.ts'

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
const section = (title: string): string => readme.slice(readme.indexOf(`## ${title}`)).split('\n## ')[0] ?? ''
const sources = async (folder: string): Promise<string[]> => {
  const url = new URL(folder, import.meta.url)
  return Promise.all((await readdir(url)).map((file) => readFile(new URL(file, url), 'utf8')))
}

it('the table of errors holds every code that the sources give', async () => {
  const given = (await sources('../src/')).flatMap((source) =>
    [...source.matchAll(/HarnessError\(.*?'([A-Z]+(?:_[A-Z]+)+)'/gs)].map(([, code]) => code),
  )
  expect(new Set([...section('Errors').matchAll(/^\| `(\w+)` /gm)].map(([, code]) => code))).toEqual(new Set(given))
})

it('the table of the config holds every key and its default', () => {
  const rows = [...section('Config').matchAll(/^\| `(\w+)` \| (?:`(\w+)`)?/gm)].map(([, key, value]) => [key, value] as const)
  const { value: defaults } = Config['~standard'].validate({}) as { readonly value: object }
  const shown = Object.fromEntries(rows.filter(([, value]) => value !== undefined))
  expect(shown).toEqual(Object.fromEntries(Object.entries(defaults).map(([key, value]) => [key, String(value)])))
})

it('what the model reads of the tool stands there, to the letter', async () => {
  const { harness } = await stage()
  expect(readme).toContain(`\`\`\`text\n${harness.ctx.tools.get('subagent')!.description}\n\`\`\`\n`)
  const withJobs = await stage({ jobs: true })
  expect(readme).toContain(`\`\`\`text\n${withJobs.harness.ctx.tools.get('subagent')!.description}\n\`\`\`\n`)
})

it('the smallest example runs, and says what its comment says', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  const { harness } = await import('./samples/smallest.ts')
  onTestFinished(() => harness.dispose())
  expect(log.mock.calls).toEqual([[['main', 'main.1', 'main']]])
  expect(harness.ctx.agentLoop.list()).toHaveLength(1)
})
