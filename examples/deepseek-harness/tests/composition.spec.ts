import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { parse } from 'yaml'

const folder = new URL('..', import.meta.url)
const GUARDS = {
  '@deepseek-ai/dsh-tool-call-timeout-policy': '@loopguard/timeout-policy',
  '@deepseek-ai/dsh-repeat-tool-reminder': '@loopguard/repeat-tool-reminder',
}

it("keeps the rows of the harness' own guards, which lead to ours", () => {
  const rows = parse(readFileSync(new URL('cordis.yml', folder), 'utf8')) as { name: string }[]
  const require = createRequire(new URL('start.mjs', folder))
  for (const [theirs, ours] of Object.entries(GUARDS)) {
    expect(rows.map(({ name }) => name)).toContain(theirs)
    expect((require(`${theirs}/package.json`) as { name: string }).name).toBe(ours)
  }
})

it('runs with one command: reminders, a timeout, a completed turn, no complaint, and the file as it was', async () => {
  const file = new URL('cordis.yml', folder)
  const before = readFileSync(file, 'utf8')
  const sources = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? [] : ['--conditions=@loopguard/source', '--import', 'tsx']
  const { stdout, stderr } = await execa('node', [...sources, 'start.mjs'], { cwd: folder, timeout: 60_000 })
  expect(stderr).toBe('')
  const said = stdout.split('\n').map((line) => line.replace(/ {2,}/, ' '))
  expect(said.filter((line) => /^(?:call|result|reminder|model|end)/.test(line)).map((line) => line.slice(0, 60))).toEqual([
    'call search {"query":"word list revision"}',
    'result No results for "word list revision".',
    'call note {"text":"nothing yet"}',
    'result Noted: nothing yet',
    'call search {"query":"word list revision"}',
    'result No results for "word list revision".',
    'call search {"query":"word list revision"}',
    'result No results for "word list revision".',
    'reminder You are repeating the exact same tool call with ide',
    'call note {"text":"nothing yet"}',
    'result Noted: nothing yet',
    'call search {"query":"word list revision"}',
    'result No results for "word list revision".',
    'call search {"query":"word list revision"}',
    'result No results for "word list revision".',
    expect.stringMatching(/^reminder /),
    'call read_page {"page":12}',
    'result Error: tool call timed out after 250ms',
    'model I cannot tell.',
    'end completed',
  ])
  expect(said).toContain('- consecutive_calls: 5')
  expect(readFileSync(file, 'utf8')).toBe(before)
}, 60_000)
