import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { main } from '../src/main.ts'
import { happened } from '../src/run/fail-on.ts'
import { folder, ROOT } from './cli.ts'

const written = { out: '', err: '' }
beforeEach(() => {
  Object.assign(written, { out: '', err: '' })
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((written.out += String(text)), true))
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((written.err += String(text)), true))
})

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const
const before = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]))
afterEach(() => {
  vi.restoreAllMocks()
  // A process runs the command once, so it keeps its listeners.
  for (const signal of SIGNALS) {
    for (const listener of process.listeners(signal)) if (before.get(signal)?.includes(listener) !== true) process.off(signal, listener)
  }
})

interface Line {
  readonly agent?: string
  readonly event?: { readonly type: string }
  readonly finding?: object
  readonly summary?: { readonly reminded: readonly object[] }
}

async function replay(file: string): Promise<{ readonly out: string; readonly lines: readonly Line[]; readonly said: unknown }> {
  written.out = ''
  expect(await main(['replay', file, '--json'])).toBe(0)
  const { out } = written
  const lines = out.trimEnd().split('\n')
  const read = lines.map((line) => JSON.parse(line) as Line)
  const said = { findings: read.flatMap(({ finding }) => finding ?? []), reminded: read.flatMap(({ summary }) => summary?.reminded ?? []) }
  return { out, lines: read, said }
}

it('what the command prints with --json, and the session log in it, are replayed as what they were made from', async () => {
  const first = await replay(join(ROOT, 'examples/transcripts/failing-test.json'))
  expect(first.lines.filter(({ finding }) => finding !== undefined).length).toBeGreaterThan(1)
  const log = first.lines.flatMap(({ event }) => (event === undefined ? [] : [`${JSON.stringify(event)}\n`])).join('')
  const files = folder({ 'printed.jsonl': first.out, 'log.jsonl': log, 'torn.jsonl': `${log}{"seq":` })
  for (const name of ['printed.jsonl', 'log.jsonl', 'torn.jsonl']) expect((await replay(join(files, name))).said).toEqual(first.said)
  expect(written.err).toBe('')
})

it('what a reader left out is a warning', async () => {
  const file = join(
    folder({ 'x.json': '[{"role":"assistant","tool_calls":[{"function":{"name":"a"}}]},{"role":"tool","content":"ok"}]' }),
    'x.json',
  )
  expect(await main(['replay', file])).toBe(0)
  expect(written.err).toBe(
    `warning [replay] ${file}: messages[1].tool_call_id: is missing; the result is given to the oldest call that waits for one\n`,
  )
})

it('a file whose format cannot be told exits with 1, and is told what it looks like', async () => {
  const file = join(folder({ 'x.json': '{"level":"info"}' }), 'x.json')
  expect(await main(['replay', file])).toBe(1)
  expect(written.out).toBe('')
  expect(written.err).toContain(`${file}: its format cannot be told: it is an object with the keys level. What is read: a session log, `)
})

describe('--summary', () => {
  const file = join(ROOT, 'examples/transcripts/failing-test.json')

  it('leaves out the conversation alone', async () => {
    expect(await main(['replay', file])).toBe(0)
    const whole = written.out
    written.out = ''
    expect(await main(['replay', file, '--summary'])).toBe(0)
    expect(written.out).toMatch(/^picture \(replay\): /)
    expect(whole.endsWith(written.out)).toBe(true)
  })

  it('leaves out the events with --json', async () => {
    const { lines } = await replay(file)
    written.out = ''
    expect(await main(['replay', file, '--json', '--summary'])).toBe(0)
    const left = written.out.trimEnd().split('\n')
    expect(left.map((line) => JSON.parse(line) as Line)).toEqual(lines.filter(({ event }) => event === undefined))
  })
})

describe('--fail-on', () => {
  const file = join(ROOT, 'examples/transcripts/failing-test.json')

  it.each<[string, number]>([
    ['reminder', 4],
    ['timeout', 0],
    ['time-out', 0],
    ['timeout, reminder', 4],
  ])('%s: a transcript with reminders and no timeout exits with %i', async (what, code) => {
    expect(await main(['replay', file, '--summary', '--fail-on', what])).toBe(code)
    expect(written.err).toBe('')
  })

  it('asks for timeouts, too', () => {
    const counts = { agents: 1, turns: 1, unfinished: 0, steps: 1, calls: 1, reminders: 0, timeouts: 1, tokens: { input: 0, output: 0 } }
    expect([happened(['timeout'], counts), happened(['reminder'], counts), happened([], counts)]).toEqual([true, false, false])
  })

  it.each(['reminders', '', 'toString'])('refuses %j, and names what there is', async (what) => {
    expect(await main(['replay', file, '--fail-on', what])).toBe(2)
    expect(written.err).toContain(`There is no "${what}"; the names are reminder, timeout.`)
  })
})
