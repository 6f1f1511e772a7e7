import { readdir, readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { Config } from '../src/config.ts'
import { wakeUp } from '../src/takeover.ts'
import { eventOf, startOf } from './support.ts'

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
const section = (title: string): string => readme.slice(readme.indexOf(`## ${title}`)).split('\n## ')[0] ?? ''

it('the table of errors holds every code that the sources give', async () => {
  const folder = new URL('../src/', import.meta.url)
  const sources = await Promise.all((await readdir(folder)).map((file) => readFile(new URL(file, folder), 'utf8')))
  const given = sources.flatMap((source) => [...source.matchAll(/'([A-Z]+(?:_[A-Z]+)+)'/g)].map(([, code]) => code))
  expect(new Set([...section('Errors').matchAll(/^\| `(\w+)` /gm)].map(([, code]) => code))).toEqual(new Set(given))
})

it('the table of the config holds every key and its default', async () => {
  const rows = [...section('Config').matchAll(/^\| `(\w+)` \| (.+?) \|/gm)].map(([, key, value]) => [key, value?.replaceAll('`', '')])
  const { value } = (await Config['~standard'].validate({})) as { readonly value: Readonly<Record<string, unknown>> }
  const defaults = Object.entries({ url: 'none', urlEnv: 'none', ...value, worker: 'the machine and the process' })
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(defaults.map(([key, item]) => [key, String(item)])))
})

it('what the model reads stands there, to the letter', () => {
  const events = [startOf('a'), eventOf(1, 'turn/end', { turn: 1, reason: { kind: 'interrupted' } })]
  const [block] = wakeUp({ events }, 'resume')?.content ?? []
  expect(readme).toContain(`\`\`\`text\n${block?.type === 'text' ? block.text : ''}\n\`\`\`\n`)
})
