import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folder, run } from '../cli.ts'
import { fixer } from './fixer.ts'

it('standard input becomes report.html', async () => {
  const place = folder({})
  const { code, out, err } = await run(['report', '-', '--exclude', 'todo_*'], { cwd: place, input: fixer() })
  expect([code, err, readdirSync(place)]).toEqual([0, '', ['report.html']])
  expect(out).toMatch(/^wrote report\.html \(\d+ KiB\): run_tests ×8 in a row, /)
  expect(readFileSync(join(place, 'report.html'), 'utf8')).toContain('<h1>report</h1><p class="mut">deepseek/')
})

it('standard input that cannot be told is called so', async () => {
  const place = folder({})
  const { code, out, err } = await run(['report', '-'], { cwd: place, input: '{' })
  expect([code, out, readdirSync(place)]).toEqual([1, '', []])
  expect(err).toMatch(/^loopguard: standard input:1:2: not JSON/)
})

it('figures that cannot be written are no success', async () => {
  const place = folder({ 'fixer.jsonl': fixer() })
  const full = openSync('/dev/full', 'w')
  const { code } = await run(['report', 'fixer.jsonl', '--json'], { cwd: place, stdout: full })
  closeSync(full)
  expect(code).toBe(5)
})

it('nothing that lies beside a log is run', async () => {
  const trap = "import { writeFileSync } from 'node:fs'\nwriteFileSync('trapped', '')\nexport const openTranscript = () => {}\n"
  const place = folder({
    'fixer.jsonl': fixer(),
    'node_modules/@loopguard/testkit/package.json': '{"name":"@loopguard/testkit","type":"module","exports":"./index.js"}',
    'node_modules/@loopguard/testkit/index.js': trap,
  })
  const { code } = await run(['report', 'fixer.jsonl'], { cwd: place })
  expect([code, readdirSync(place).toSorted()]).toEqual([0, ['fixer.html', 'fixer.jsonl', 'node_modules']])
})
