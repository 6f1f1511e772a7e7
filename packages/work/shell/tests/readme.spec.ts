import { readdir, readFile } from 'node:fs/promises'
import { afterAll, describe, expect, it } from 'vitest'
import Jobs from '@loopguard/jobs'
import * as persistentBash from '@loopguard/shell/persistent-bash'
import { watchContexts } from '@loopguard/testkit'
import * as approve from './samples/approve.ts'
import { count } from './samples/smallest.ts'
import { bashHost, call, shellHost, textOf, until } from './support.ts'

afterAll(watchContexts())

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')

const sources = async (folder: string): Promise<string[]> => {
  const url = new URL(folder, import.meta.url)
  return Promise.all((await readdir(url)).map((file) => readFile(new URL(file, url), 'utf8')))
}
const section = (title: string): string => readme.slice(readme.indexOf(`## ${title}`)).split('\n## ')[0] ?? ''
const keys = (text: string): (string | undefined)[] => [...text.matchAll(/^\| `(\w+)` /gm)].map(([, key]) => key)

it('the table of errors holds every code that the sources give', async () => {
  const given = new Set(
    (await sources('../src/')).flatMap((source) => [...source.matchAll(/'([A-Z]+(?:_[A-Z]+)+)'/g)].map(([, code]) => code)),
  )
  given.delete('BASH_ENV')
  expect(new Set(keys(section('Errors')))).toEqual(given)
})

it('the table of the config holds every key and its default', async () => {
  const { shell } = await shellHost({ graceMs: 3000 })
  const [ofService = '', ofPersistent = ''] = section('Config').split('Of `persistent_bash`')
  const defaultsIn = (text: string): object =>
    Object.fromEntries([...text.matchAll(/^\| `(\w+)` +\| `(.+?)` +\|/gm)].map(([, key, value]) => [key, JSON.parse(value ?? '')]))
  expect(defaultsIn(ofService)).toEqual(shell.limits)
  expect(keys(ofService)).toEqual([...Object.keys(shell.limits).slice(0, 5), 'cwd', 'env'])
  const standard = persistentBash.Config['~standard'].validate({}) as { readonly value: object }
  expect(defaultsIn(ofPersistent)).toEqual(standard.value)
})

it('the descriptions of the tools stand there, to the letter', async () => {
  const { ctx } = await bashHost()
  const description = (): string => ctx.tools.schemas().find(({ name }) => name === 'bash')?.description ?? ''
  const first = description()
  expect(readme).toContain(`\`\`\`text\n${first}\n\`\`\`\n`)
  await ctx.plugin(persistentBash)
  expect(readme).toContain(`\`\`\`text\n${ctx.tools.schemas().find(({ name }) => name === 'persistent_bash')?.description}\n\`\`\`\n`)
  await ctx.plugin(Jobs)
  await until(() => description() !== first, 'the tool offers jobs')
  expect(readme).toContain(`\`\`\`text\n${description().slice(first.length + 1)}\n\`\`\`\n`)
})

describe('the samples', () => {
  it('smallest: counts files', async () => {
    expect(await count('/')).toMatchObject({ stdout: expect.stringMatching(/^\d+\n$/), exitCode: 0 })
  })

  it('approve: what looks runs, what does more is asked for, and denied when nobody answers', async () => {
    const { ctx } = await bashHost({ plugins: [approve] })
    const run = async (command: string): Promise<string> => textOf(await call(ctx, 'bash', { command, description: 'a test' }))
    expect(await run('ls /etc/passwd')).toBe('/etc/passwd')
    expect(await run('ls; rm -rf /nowhere')).toBe('Error: tool "bash" needs approval, and a call without an agent has nobody to ask')
  })
})
