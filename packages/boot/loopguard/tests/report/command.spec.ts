import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { main } from '../../src/main.ts'
import { folder, ROOT, type Ended } from '../cli.ts'
import { fixer } from './fixer.ts'
import { Recorder } from './recorder.ts'

const written = { out: '', err: '' }
let before = ''
beforeEach(() => {
  before = process.cwd()
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((written.out += String(text)), true))
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((written.err += String(text)), true))
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

/** Runs the command as if it stood in `place`: no test may change the folder of a process that others share. */
async function report(place: string, ...args: string[]): Promise<Ended> {
  Object.assign(written, { out: '', err: '' })
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(place)
  try {
    const code = await main(['report', ...args])
    return { code, ...written }
  } finally {
    cwd.mockRestore()
    expect(process.cwd()).toBe(before)
  }
}

const QUIET = new Recorder('quiet', Date.UTC(2026, 0, 1)).ask('hello').answer({ text: 'hello' }).end().jsonl
const ONE = new Recorder('one', Date.UTC(2026, 0, 1))
  .ask('go')
  .answer({ calls: [{ name: 'look' }] })
  .end().jsonl

describe('one session', () => {
  it('becomes a page in the current folder, and a line says what it comes to', async () => {
    const place = folder({ 'logs/fixer.jsonl': fixer() })
    const { code, out, err } = await report(place, join(place, 'logs/fixer.jsonl'), '--exclude', 'todo_*')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(
      /^wrote fixer\.html \(\d\d KiB\): run_tests ×8 in a row, 4 reminders, 1 timeout; a cap at 3 spares ≤ 5 calls, 41,800 tokens\n$/,
    )
    expect(readdirSync(place)).toEqual(['fixer.html', 'logs'])
    expect(readFileSync(join(place, 'fixer.html'), 'utf8')).toMatch(/^<!doctype html>/)
  })

  it('replaces a report that is there, and leaves any other file as it is', async () => {
    const place = folder({ 'one.jsonl': ONE, 'quiet.jsonl': QUIET, 'quiet.html': '<p>mine</p>' })
    await report(place, join(place, 'one.jsonl'))
    const first = readFileSync(join(place, 'one.html'), 'utf8')
    expect((await report(place, join(place, 'one.jsonl'), '--thresholds', '4')).code).toBe(0)
    expect(readFileSync(join(place, 'one.html'), 'utf8')).not.toBe(first)
    const refused = await report(place, join(place, 'quiet.jsonl'))
    expect([refused.code, refused.out]).toEqual([1, ''])
    expect(refused.err).toContain(
      `loopguard: ${join(place, 'quiet.html')} is there already and is no report; it is left as it is. Choose another name with -o\n`,
    )
    expect(readFileSync(join(place, 'quiet.html'), 'utf8')).toBe('<p>mine</p>')
    expect(readdirSync(place).toSorted()).toEqual(['one.html', 'one.jsonl', 'quiet.html', 'quiet.jsonl'])
  })

  it('goes where -o says, into a folder that it makes, and never in place of a folder', async () => {
    const place = folder({ 'one.jsonl': ONE })
    const log = join(place, 'one.jsonl')
    expect((await report(place, log, '-o', 'pages/a b.html')).out).toMatch(/^wrote pages\/a b\.html \(/)
    expect(existsSync(join(place, 'pages/a b.html'))).toBe(true)
    const refused = await report(place, log, '-o', 'pages')
    expect([refused.code, refused.err]).toEqual([1, `loopguard: ${join(place, 'pages')} is a folder; name a file with -o\n`])
    expect((await report(place, log, '-o', 'one.jsonl/x.html')).err).toMatch(/x\.html cannot be written: (?:ENOTDIR|EEXIST)/)
    expect(readdirSync(place).toSorted()).toEqual(['one.jsonl', 'pages'])
  })

  it('without a tool call is a page all the same, with a warning and 0', async () => {
    const place = folder({ 'quiet.jsonl': QUIET })
    const log = join(place, 'quiet.jsonl')
    const { code, out, err } = await report(place, log)
    expect([code, err]).toEqual([0, `warning: ${log} holds no tool call, so there is nothing that a guard could say\n`])
    expect(out).toContain('no call was made twice in a row, 0 reminders, 0 timeouts; a cap at 3 spares nothing')
    expect(readFileSync(join(place, 'quiet.html'), 'utf8')).toContain('No tool was called')
  })

  it('with --json prints its figures and writes nothing', async () => {
    const place = folder({ 'fixer.jsonl': fixer() })
    const { code, out } = await report(place, join(place, 'fixer.jsonl'), '--json', '--exclude', 'todo_*')
    expect([code, readdirSync(place)]).toEqual([0, ['fixer.jsonl']])
    expect(JSON.parse(out)).toMatchObject({
      name: 'fixer',
      session: 'fixer',
      calls: 21,
      reminders: 4,
      timeouts: 1,
      otherErrors: 9,
      tokens: { input: 154_740, output: 1421, requestsWithout: 0 },
      longestRun: { name: 'run_tests', length: 8 },
      cost: null,
      thresholds: [3, 5, 8],
    })
  })
})

describe('what cannot be read or told', () => {
  it.each<[string, string | undefined, string]>([
    ['is not there', undefined, 'cannot be read: ENOENT'],
    ['is no JSON', 'garbage', 'not JSON: expected a value'],
    [
      'is of no known format',
      '{"level":"info"}',
      'its format cannot be told: it is an object with the keys level. What is read: a session log',
    ],
  ])('exits with 1 when a file %s', async (_what, content, message) => {
    const place = folder(content === undefined ? {} : { 'x.json': content })
    const { code, out, err } = await report(place, join(place, 'x.json'))
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain(message)
    expect(existsSync(join(place, 'x.html'))).toBe(false)
  })

  it.each<[string, string]>([
    ['[]', 'expected an object of prices by model, got an array'],
    ['{', 'the prices cannot be read: '],
    ['{"m":{"input":1}}', 'the price of "m": `output` must be a number >= 0, for a million tokens, got undefined'],
    ['{"m":{"input":-1,"output":1}}', '`input` must be a number >= 0'],
    ['{"m":{"input":1,"output":1,"in":2}}', 'has an unknown key "in"; the keys are input, output, cacheRead, cacheWrite'],
    ['{"m":3}', 'the price of "m" must be an object with `input` and `output`, got 3'],
  ])('exits with 1 for the prices %s', async (prices, message) => {
    const place = folder({ 'one.jsonl': ONE, 'prices.json': prices })
    const { code, err } = await report(place, join(place, 'one.jsonl'), '--prices', join(place, 'prices.json'))
    expect(code).toBe(1)
    expect(err).toContain(message)
    expect(existsSync(join(place, 'one.html'))).toBe(false)
  })
})

it.each<[string, string[], string]>([
  ['no file', [], "missing required argument 'file'"],
  ['thresholds that are none', ['x', '--thresholds', 'few'], 'Expected integers separated by commas'],
  ['a threshold of 1', ['x', '--thresholds', '1'], '`thresholds` must hold only values that are an integer >= 2, got 1'],
  ['a blank pattern', ['x', '--include', ' '], 'each pattern of `include` must not be empty or blank'],
  ['an unknown rule', ['x', '--guards', 'all'], 'There is no "all"'],
  ['an expression that is none', ['x', '--errors', '('], 'Expected a regular expression'],
  ['other results', ['x', '--results', 'some'], "argument 'some' is invalid"],
  ['a page without a page', ['x', '--json', '-o', 'y'], '--json writes no page'],
  ['a blank output', ['x', '-o', ''], '-o must not be blank'],
  ['standard input twice', ['-', '-'], 'standard input (-) can be read once'],
])('%s is a usage error', async (_what, args, message) => {
  const { code, out, err } = await report(folder({}), ...args)
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain(message)
})

describe('many sessions', () => {
  it('become a page each and one with all, in the folder report', async () => {
    const place = folder({ 'logs/fixer.jsonl': fixer(), 'logs/deep/one.jsonl': ONE, 'logs/.hidden.jsonl': 'x', 'logs/note.md': 'x' })
    const { code, out, err } = await report(place, join(place, 'logs'))
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^wrote report\/index\.html and 2 pages \(\d+ KiB\): fixer: run_tests ×7 in a row, /)
    expect(readdirSync(join(place, 'report')).toSorted()).toEqual(['deep_one.html', 'fixer.html', 'index.html'])
    const index = readFileSync(join(place, 'report/index.html'), 'utf8')
    expect([...index.matchAll(/href="([^"]+)"/g)].map(([, to]) => to)).toEqual(['fixer.html', 'fixer.html', 'deep_one.html'])
    expect(readFileSync(join(place, 'report/deep_one.html'), 'utf8')).toContain('<a href="index.html">')
  })

  it('one that cannot be read is named, does not cost the others their pages, and makes the exit code 1', async () => {
    const place = folder({ 'logs/a.jsonl': ONE, 'logs/b<i>.jsonl': 'garbage', 'logs/c.jsonl': QUIET })
    const { code, out, err } = await report(place, join(place, 'logs'), '-o', 'out')
    expect(code).toBe(1)
    expect(err).toMatch(/^loopguard: .*b<i>\.jsonl.* not JSON/)
    expect(out).toMatch(/^wrote out\/index\.html and 2 pages/)
    expect(readdirSync(join(place, 'out')).toSorted()).toEqual(['a.html', 'c.html', 'index.html'])
    expect(readFileSync(join(place, 'out/index.html'), 'utf8')).toContain('b&#60;i&#62;.jsonl')
  })

  it('are files and folders as they were named, and --json has a line for each', async () => {
    const place = folder({ 'logs/a.jsonl': ONE, 'b.jsonl': QUIET })
    const { code, out } = await report(place, join(place, 'b.jsonl'), join(place, 'logs'), '--json')
    expect(code).toBe(0)
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { name: string }).name),
    ).toEqual(['b', 'a'])
    expect(readdirSync(place).toSorted()).toEqual(['b.jsonl', 'logs'])
  })

  it('a folder without one says so', async () => {
    const place = folder({ 'note.md': '' })
    const { code, err } = await report(place, place)
    expect([code, err]).toEqual([1, `loopguard: ${place} holds no session: no file in it or below ends in .jsonl, .ndjson or .json\n`])
  })

  it('a page is never written over what is no report', async () => {
    const place = folder({ 'logs/a.jsonl': ONE, 'report/a.html': 'mine' })
    const { code, err } = await report(place, join(place, 'logs'))
    expect([code, readFileSync(join(place, 'report/a.html'), 'utf8')]).toEqual([1, 'mine'])
    expect(err).toContain('is no report')
  })

  it('without any tool call there is a warning', async () => {
    const place = folder({ 'logs/a.jsonl': QUIET, 'logs/b.jsonl': QUIET })
    const { code, err } = await report(place, join(place, 'logs'))
    expect([code, err]).toEqual([0, 'warning: no session holds a tool call, so there is nothing that a guard could say\n'])
  })

  it('a hundred are announced', async () => {
    const place = folder({})
    mkdirSync(join(place, 'logs'))
    for (let index = 0; index < 100; index++) writeFileSync(join(place, `logs/${index}.jsonl`), ONE)
    expect((await report(place, join(place, 'logs'))).err).toBe('reading 100 sessions\n')
  })
})

it('a model without a price is named', async () => {
  const place = folder({ 'fixer.jsonl': fixer(), 'prices.json': '{"other":{"input":1,"output":1}}' })
  const { code, err } = await report(place, join(place, 'fixer.jsonl'), '--prices', join(place, 'prices.json'))
  expect([code, err]).toEqual([0, 'warning: no price is given for deepseek/deepseek-v4-flash\n'])
})

it('the invented session of the examples is the one of these tests', () => {
  expect(readFileSync(join(ROOT, 'examples/transcripts/fixer.jsonl'), 'utf8')).toBe(fixer())
})

describe('docs/report.md', () => {
  const page = readFileSync(join(ROOT, 'docs/report.md'), 'utf8')

  it('shows a command and what it prints', async () => {
    const [, command] = /^npm run loopguard -- report (.*)$/m.exec(page) ?? []
    const args = command?.split(' ').map((arg) => (arg.startsWith('examples/') ? join(ROOT, arg) : arg.replaceAll("'", ''))) ?? []
    const { code, out, err } = await report(folder({}), ...args)
    expect([code, err]).toEqual([0, ''])
    const sized = (text: string): string => text.replace(/\(\d+ KiB\)/, '(… KiB)')
    expect(sized(page)).toContain(`\`\`\`text\n${sized(out)}\`\`\``)
  })

  it('shows the prices of the example', () => {
    expect(page).toContain(`\`\`\`json\n${readFileSync(join(ROOT, 'examples/transcripts/prices.json'), 'utf8')}\`\`\``)
  })
})
