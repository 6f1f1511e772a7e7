import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Finding } from '../src/audit/audit.ts'
import { main } from '../src/main.ts'
import { folder, ROOT } from './cli.ts'

const TRACES = join(ROOT, 'packages/test-support/testkit/traces')

interface Expected {
  readonly file: string
  readonly calls: number
  readonly exact_today: readonly number[]
  readonly exact_with_result_gate: readonly number[]
  readonly repeated_failure: readonly number[]
  readonly no_news_run: readonly number[]
}
const expected = JSON.parse(readFileSync(join(TRACES, 'expected.json'), 'utf8')) as Expected[]

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
  readonly event?: { readonly type: string; readonly data: { readonly source?: { readonly plugin?: string } } }
  readonly finding?: Finding
  readonly summary?: Readonly<Record<string, unknown>> & { readonly byGuard: Readonly<Record<string, number>> }
}

interface Replayed {
  readonly code: number
  readonly findings: readonly Finding[]
  /** After which calls a reminder of a guard stands in the log. */
  readonly reminded: (guard: string) => number[]
  readonly summary: NonNullable<Line['summary']>
  readonly err: string
}

async function replay(file: string, ...options: string[]): Promise<Replayed> {
  written.out = ''
  const code = await main(['replay', file, '--json', ...options])
  const lines = written.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
  const reminded = (guard: string): number[] => {
    let calls = 0
    return lines.flatMap(({ event }) => {
      if (event?.type === 'tool/result') calls++
      return event?.type === 'user/message' && event.data.source?.plugin === guard ? [calls] : []
    })
  }
  const last = lines.at(-1)?.summary
  if (last === undefined) throw new Error(written.out + written.err)
  return { code, findings: lines.flatMap(({ finding }) => finding ?? []), reminded, summary: last, err: written.err }
}

const numbers = (findings: readonly Finding[], rule: string): number[] =>
  findings.filter(({ guard }) => guard === rule).map(({ callId }) => Number(callId.replace('call_', '')))

describe.each(expected)('$file', (trace) => {
  const file = join(TRACES, trace.file)

  it('each rule speaks after the calls that are expected, in the findings and in the log', async () => {
    const { code, findings, reminded, summary, err } = await replay(file)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(numbers(findings, 'repeat-tool-reminder')).toEqual(trace.exact_today)
    expect(reminded('repeat-tool-reminder')).toEqual(trace.exact_today)
    expect(numbers(findings, 'repeated-failure-reminder')).toEqual(trace.repeated_failure)
    expect(reminded('repeated-failure-reminder')).toEqual(trace.repeated_failure)
    expect(numbers(findings, 'no-news-run')).toEqual(trace.no_news_run)
    expect(summary).toMatchObject({
      calls: trace.calls,
      byGuard: {
        'repeat-tool-reminder': trace.exact_today.length,
        'repeated-failure-reminder': trace.repeated_failure.length,
        'no-news-run': trace.no_news_run.length,
      },
      suppressedByResults: 0,
    })
  })

  it('with the gate too', async () => {
    const { findings, reminded, summary } = await replay(file, '--results', 'unchanged')
    expect(numbers(findings, 'repeat-tool-reminder')).toEqual(trace.exact_with_result_gate)
    expect(reminded('repeat-tool-reminder')).toEqual(trace.exact_with_result_gate)
    expect(summary['suppressedByResults']).toBe(trace.exact_today.length - trace.exact_with_result_gate.length)
  })
})

describe('findings', () => {
  it('say what was called, how often, with what result, and what followed', async () => {
    const { findings } = await replay(join(TRACES, '01-same-call-same-result.json'))
    const same = { guard: 'repeat-tool-reminder', agent: 'replay', turn: 1, name: 'list_folder', arguments: '{"path": "inbox"}' }
    expect(findings).toEqual([
      { ...same, step: 3, callId: 'call_03', count: 3, distinct: 1, resultsEqual: true, firstCallId: 'call_01', callsAfter: 3 },
      { ...same, step: 5, callId: 'call_05', count: 5, distinct: 1, resultsEqual: true, firstCallId: 'call_01', callsAfter: 1 },
    ])
  })

  it('say that results changed', async () => {
    const { findings } = await replay(join(TRACES, '12-polling-that-moves.json'))
    expect(findings.map(({ count, resultsEqual }) => [count, resultsEqual])).toEqual([
      [3, false],
      [5, false],
    ])
  })

  it('of failures and of runs without news say the error, and where it began', async () => {
    const { findings } = await replay(join(TRACES, '09-wandering.json'))
    expect(
      findings.map(({ guard, callId, count, distinct, error, firstCallId, callsAfter }) => [
        guard,
        callId,
        count,
        distinct,
        error,
        firstCallId,
        callsAfter,
      ]),
    ).toEqual([
      ['repeated-failure-reminder', 'call_08', 3, 1, 'Error: no such file', 'call_02', 0],
      ['no-news-run', 'call_08', 5, 3, 'Error: no such file', 'call_04', 2],
      ['repeated-failure-reminder', 'call_09', 3, 1, 'Error: no such file', 'call_03', 0],
    ])
  })

  it('are those of the rules that are asked for', async () => {
    const file = join(TRACES, '02-same-call-same-error.json')
    const alone = await replay(file, '--guards', 'repeated-failure-reminder')
    expect(alone.findings.map(({ guard, callId }) => [guard, callId])).toEqual([['repeated-failure-reminder', 'call_03']])
    expect(alone.reminded('repeated-failure-reminder')).toEqual([3])
    expect(alone.summary.byGuard).toEqual({ 'repeated-failure-reminder': 1 })
    const none = await replay(file, '--guards', 'no-news-run')
    expect([none.findings, none.summary['reminders']]).toEqual([[], 0])
  })

  it('leave out tools for every rule alike', async () => {
    const notes = await replay(join(TRACES, '06-failure-between-notes.json'), '--exclude', 'note')
    expect(notes.findings.map(({ guard, callId }) => [guard, callId])).toEqual([['repeat-tool-reminder', 'call_06']])
    const wandering = await replay(join(TRACES, '09-wandering.json'), '--include', 'cat')
    expect(wandering.findings.map(({ guard, callId }) => [guard, callId])).toEqual([['repeat-tool-reminder', 'call_08']])
    expect(wandering.reminded('repeat-tool-reminder')).toEqual([8])
  })
})

const call = (id: string, name: string, args = '{}'): object => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: args } }],
})
const result = (id: string, content: string): object => ({ role: 'tool', tool_call_id: id, content })
const transcript = (...messages: object[]): string =>
  join(folder({ 'x.json': JSON.stringify([{ role: 'user', content: 'go' }, ...messages]) }), 'x.json')

describe('a tool that fails in plain text', () => {
  it('is known by --errors', async () => {
    const round = (index: number): object[] => [
      call(`a${index}`, 'bash', '{"command":"make"}'),
      result(`a${index}`, `1 of ${index} failed\n[exit code: 2]`),
      call(`b${index}`, 'note', `{"n":${index}}`),
      result(`b${index}`, ''),
    ]
    const file = transcript(...[1, 2, 3].flatMap(round))
    expect((await replay(file)).findings).toEqual([])
    const { findings, reminded } = await replay(file, '--errors', '^\\[exit code: ')
    expect(findings).toMatchObject([
      { guard: 'repeated-failure-reminder', callId: 'a3', error: 'Error: 1 of 3 failed\n[exit code: 2]', firstCallId: 'a1' },
    ])
    expect(reminded('repeated-failure-reminder')).toEqual([5])
  })
})

describe('the picture', () => {
  it('draws a conversation on one line', async () => {
    const pictures = async (file: string): Promise<unknown> => (await replay(join(TRACES, file))).summary['pictures']
    expect(await pictures('09-wandering.json')).toEqual({ replay: '|AB!C!ab!c!ab!^c!^a' })
    expect(await pictures('12-polling-that-moves.json')).toEqual({ replay: '|AAA^AA^' })
    expect(await pictures('20-asked-again-by-the-user.json')).toEqual({ replay: '|A|a|a' })
  })

  it('is shown with what no guard reminds of, before the reminders', async () => {
    expect(await main(['replay', join(TRACES, '09-wandering.json')])).toBe(0)
    expect(written.out.split('\n').slice(-8, -1)).toEqual([
      'picture (replay): |AB!C!ab!c!ab!^c!^a',
      'calls without news, of which no guard reminds (no-news-run), up to',
      '  1. cat {"file": "report.txt"} [call_08] (replay, turn 1, step 8): 5 in a row',
      'the reminder acted after',
      '  1. cat {"file": "report.txt"} [call_08] (replay, turn 1, step 8): repeated-failure-reminder',
      '  2. copy {"from": "report.txt", "to": "archive"} [call_09] (replay, turn 1, step 9): repeated-failure-reminder',
      'summary: 10 calls, 2 reminders, 0 timeouts, 1 agent, 1 turn, 11 steps, tokens not recorded',
    ])
  })
})

describe('a transcript without a tool call', () => {
  it('is a warning, and no failure', async () => {
    const { code, summary, err } = await replay(transcript({ role: 'assistant', content: 'Hello.' }))
    expect(code).toBe(0)
    expect(summary).toMatchObject({ calls: 0, byGuard: { 'repeat-tool-reminder': 0 } })
    expect(err).toMatch(/^warning: .*x\.json holds no tool call, so there is nothing that a guard could say\n$/)
  })
})

describe('a usage error', () => {
  it.each([
    [
      ['--guards', 'repeat-tool-reminder,loops'],
      'There is no "loops"; the names are repeat-tool-reminder, repeated-failure-reminder, no-news-run.',
    ],
    [['--results', 'same'], 'Allowed choices are any, unchanged.'],
    [['--errors', '('], 'Expected a regular expression: Invalid regular expression: /(/m: Unterminated group.'],
    [['--errors', ' '], 'Expected a regular expression that is not blank.'],
  ])('%j', async (options, words) => {
    expect(await main(['replay', 'x.json', ...options])).toBe(2)
    expect(written.err).toContain(words)
  })
})
