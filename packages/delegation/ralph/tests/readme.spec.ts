import { readdir, readFile } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'
import { Config } from '../src/config.ts'

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

it('what the model reads of both tools, and of the rounds, stands there, to the letter', async () => {
  const { harness } = await import('./samples/smallest.ts')
  onTestFinished(() => harness.dispose())
  const { requests } = harness.model
  const described = requests.flatMap(({ tools = [] }) => tools).filter(({ name }) => name === 'ralph' || name === 'report')
  for (const { description } of described) expect(readme).toContain(`\`\`\`text\n${description}\n\`\`\`\n`)
  const prompts = requests
    .slice(1, 3)
    .map(({ messages }) => messages[0]!.content.map((block) => (block.type === 'text' ? block.text : '')).join(''))
  expect(prompts).toHaveLength(2)
  for (const prompt of prompts) expect(readme).toContain(`\`\`\`text\n${prompt}\n\`\`\`\n`)
  const [agent] = harness.ctx.agentLoop.list()
  const result = agent!.session.events.find(({ type }) => type === 'tool/result')
  expect(JSON.stringify(result)).toContain('Complete after round 2.')
})
