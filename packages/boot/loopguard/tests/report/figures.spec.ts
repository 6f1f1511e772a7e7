import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Analysis, analysisOf } from '../../src/report/figures/analysis.ts'
import { busyMs } from '../../src/report/figures/busy.ts'
import type { Prices } from '../../src/report/figures/prices.ts'
import type { ReportOptions } from '../../src/report/figures/settings.ts'
import { plain, verdictOf } from '../../src/report/figures/verdict.ts'
import { sessionOfLog } from '../../src/report/read/from-log.ts'
import { lineOf } from '../../src/report/write/line.ts'
import { fixer } from './fixer.ts'
import { Recorder } from './recorder.ts'

const START = Date.UTC(2026, 0, 1)
const PRICES = { m: { input: 2, output: 10 } }

function made(log: Recorder, options: ReportOptions = {}, prices?: Prices): Analysis {
  return analysisOf('s', sessionOfLog(log.events, false, []), options, prices)
}

const start = (): Recorder => new Recorder('s', START, 'p/m').ask('go')
const call = (name: string, args: unknown = {}, result = 'ok'): { name: string; args: unknown; result: string } => ({ name, args, result })
const countsOf = ({ calls }: Analysis): number[] => calls.map(({ count }) => count)

describe('runs', () => {
  it('are those of the guard: equal calls in a row, of the same arguments in any order of keys', () => {
    const log = start()
    for (const args of [{ a: 1, b: 2 }, { b: 2, a: 1 }, { a: 1, b: 2 }, { a: 1 }]) log.answer({ calls: [call('look', args)] })
    expect(countsOf(made(log))).toEqual([1, 2, 3, 1])
  })

  it('as a model of three lines has them, for any calls and words of a user', () => {
    const event = fc.oneof(
      fc.constant('user' as const),
      fc.record({ name: fc.constantFrom('a', 'b', 'note'), args: fc.constantFrom(1, 2) }),
    )
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const log = start()
        const expected: number[] = []
        let [last, run] = ['', 0]
        for (const each of events) {
          if (each === 'user') {
            log.ask('more')
            last = ''
            continue
          }
          log.answer({ calls: [call(each.name, { x: each.args })] })
          if (each.name !== 'note') run = last === `${each.name}${each.args}` ? run + 1 : 1
          if (each.name !== 'note') last = `${each.name}${each.args}`
          expected.push(each.name === 'note' ? 0 : run)
        }
        expect(countsOf(made(log, { exclude: ['note'] }))).toEqual(expected)
      }),
    )
  })

  it('go across turns that no person began, and end where one speaks', () => {
    const log = start().answer({ calls: [call('look')] })
    for (const source of [
      { kind: 'plugin', plugin: 'jobs' },
      { kind: 'goal', goalId: 'g' },
    ])
      log.events.push({
        seq: 0,
        time: START + 1000,
        type: 'user/message',
        data: { id: 'x', role: 'user', content: [{ type: 'text', text: 'hm' }], source },
      })
    log.events.push({
      seq: 0,
      time: START + 1000,
      type: 'user/message',
      data: { role: 'user', name: 'harness', content: [], source: { kind: 'user' } },
    })
    log
      .answer({ calls: [call('look')] })
      .ask('again')
      .answer({ calls: [call('look')] })
    expect(countsOf(made(log))).toEqual([1, 2, 1])
  })

  it('of tools that are left out are none, and do not end others', () => {
    const log = start()
    for (const name of ['look', 'note', 'look', 'find', 'look']) log.answer({ calls: [call(name)] })
    expect(countsOf(made(log, { exclude: ['no*'] }))).toEqual([1, 0, 2, 1, 1])
    expect(countsOf(made(log, { include: ['look'] }))).toEqual([1, 0, 2, 0, 3])
  })

  it('under --results unchanged go on with an equal result only, but for what is volatile', () => {
    const log = start()
    for (const result of ['at 12:00:01', 'at 12:00:02', 'other']) log.answer({ calls: [call('look', {}, result)] })
    expect(countsOf(made(log))).toEqual([1, 2, 3])
    expect(countsOf(made(log, { results: 'unchanged' }))).toEqual([1, 2, 1])
  })

  it('text that is no JSON is text, and no text is no arguments', () => {
    const log = start()
    for (const raw of ['', '{}', '{"a"', '{"a"', '"{\\"a\\""']) log.answer({ calls: [{ name: 'look', raw }] })
    expect(countsOf(made(log))).toEqual([1, 2, 1, 2, 3])
  })
})

describe('figures', () => {
  it('of the session of the examples', () => {
    const log = fixer()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown)
    const { figures } = analysisOf(
      'fixer',
      sessionOfLog(log, false, []),
      { exclude: ['todo_*'] },
      { 'deepseek-v4-flash': { input: 0.28, output: 0.42 } },
    )
    expect(figures).toMatchObject({ calls: 21, turns: 2, requests: 18, failedRequests: 0, reminders: 4, timeouts: 1, otherErrors: 9 })
    expect(figures.cost?.sum).toBeCloseTo((154_740 * 0.28 + 1421 * 0.42) / 1e6, 10)
    expect(figures.spared).toMatchObject({ cap: 3, calls: 5, requests: 5, inputTokens: 41_800 })
  })

  it('count a timeout by its code, and any other error as an error', () => {
    const log = start().answer({
      calls: [
        { name: 'a', code: 'TOOL_TIMEOUT' },
        { name: 'b', code: 'DENIED' },
        { name: 'c', isError: true },
        { name: 'd', result: 'Error: tool call timed out after 5ms', isError: true },
        { name: 'e', result: '[exit code: 2]' },
      ],
    })
    expect(made(log).figures).toMatchObject({ timeouts: 1, otherErrors: 3 })
    expect(made(log, { errors: '^\\[exit code: ' }).figures).toMatchObject({ timeouts: 1, otherErrors: 4 })
  })

  it('count failed requests, and no answer for them', () => {
    const log = start().answer({ failed: 'SERVER', input: 10 })
    expect(made(log).figures).toMatchObject({ requests: 1, failedRequests: 1, tokens: { input: 10, requestsWithout: 0 } })
  })

  it('say nothing of tokens that were not recorded, and how many requests did not say', () => {
    expect(made(start().answer({})).figures.tokens).toBeUndefined()
    expect(made(start().answer({ input: 0, output: 0 })).figures.tokens).toEqual({ input: 0, output: 0, requestsWithout: 0 })
    expect(made(start().answer({ input: 5 }).answer({})).figures.tokens).toEqual({ input: 5, output: 40, requestsWithout: 1 })
  })

  it('sum up overlapping calls once', () => {
    const log = start().answer({
      modelMs: 100,
      calls: [
        { name: 'a', ms: 50, isParallel: true },
        { name: 'b', ms: 80, isParallel: true },
        { name: 'c', ms: 60 },
      ],
    })
    expect(made(log).figures.busyMs).toEqual({ model: 100, tools: 80, all: 180 })
  })

  it('busy time is the length of the union, for any spans', () => {
    const span = fc.record({ start: fc.nat(60), length: fc.nat(20) })
    fc.assert(
      fc.property(fc.array(span), (spans) => {
        const ticks = new Set(spans.flatMap(({ start: from, length }) => Array.from({ length }, (_none, at) => from + at)))
        expect(busyMs(spans.map(({ start: from, length }) => ({ start: from, end: from + length })))).toBe(ticks.size)
      }),
    )
  })
})

describe('costs', () => {
  const asked = (model: string, usage: object): Recorder => {
    const log = new Recorder('s', START, model).ask('go').answer({ input: 1 })
    const answer = log.events.find(({ type }) => type === 'assistant/message')
    Object.assign(answer?.data as object, { usage })
    return log
  }

  it('are input and output at the price of the model, and what the cache gave or took at its own', () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 100_000, cacheReadTokens: 600_000, cacheWriteTokens: 100_000 }
    expect(made(asked('p/m', usage), {}, PRICES).figures.cost).toEqual({ sum: 3, unpriced: [] })
    const prices = { m: { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 } }
    expect(made(asked('p/m', usage), {}, prices).figures.cost?.sum).toBeCloseTo(0.3 * 2 + 0.6 * 0.2 + 0.1 * 2.5 + 1, 10)
  })

  it('prefer the price of the provider, and name models without one', () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0 }
    expect(made(asked('p/m', usage), {}, { ...PRICES, 'p/m': { input: 7, output: 0 } }).figures.cost).toEqual({ sum: 7, unpriced: [] })
    expect(made(asked('p/constructor', usage), {}, PRICES).figures.cost).toEqual({ sum: undefined, unpriced: ['p/constructor'] })
    expect(made(asked('p/m', usage)).figures.cost).toBeUndefined()
  })
})

describe('a cap', () => {
  it('spares the calls beyond it, and the requests that called nothing else', () => {
    const log = start()
    for (let index = 0; index < 5; index++) log.answer({ modelMs: 100, input: 100, output: 10, calls: [{ ...call('look'), ms: 50 }] })
    log.answer({
      modelMs: 100,
      input: 100,
      calls: [
        { ...call('look'), ms: 50 },
        { ...call('other'), ms: 50 },
      ],
    })
    const { spared, figures } = made(log, {}, PRICES)
    expect(figures.spared).toEqual({
      cap: 3,
      calls: 3,
      requests: 2,
      ms: 300,
      inputTokens: 200,
      outputTokens: 20,
      cost: (200 * 2 + 20 * 10) / 1e6,
    })
    expect(spared.map(({ cap, calls, requests }) => [cap, calls, requests]).slice(0, 6)).toEqual([
      [2, 4, 3],
      [3, 3, 2],
      [4, 2, 1],
      [5, 1, 0],
      [6, 0, 0],
      [7, 0, 0],
    ])
    expect(spared.at(-1)).toMatchObject({ cap: 10, calls: 0, inputTokens: 0, cost: 0 })
  })

  it('takes bookkeeping beside a spared call along, and nothing that was not recorded', () => {
    const log = start()
    for (let index = 0; index < 4; index++) log.answer({ calls: [call('look'), call('note')] })
    expect(made(log, { exclude: ['note'] }).figures.spared).toMatchObject({
      calls: 1,
      requests: 1,
      inputTokens: undefined,
      cost: undefined,
    })
  })

  it('spares tokens that are not recorded, if the requests that it spares do not say theirs', () => {
    const log = start()
    for (let index = 0; index < 4; index++) log.answer({ calls: [call('look')] })
    log.answer({ input: 10 })
    const { spared } = made(log, {}, PRICES)
    expect(spared.map(({ inputTokens }) => inputTokens).slice(0, 3)).toEqual([undefined, undefined, 0])
  })

  it('is looked at up to the longest run, and spares the less the higher it is', () => {
    const log = start()
    for (let index = 0; index < 30; index++) log.answer({ input: 1, calls: [call('look')] })
    const { spared } = made(log)
    expect([spared[0]?.cap, spared.at(-1)?.cap]).toEqual([2, 30])
    expect(spared.map(({ calls }) => calls)).toEqual(spared.map(({ cap }) => 30 - cap))
  })
})

describe('reminders', () => {
  it('belong to the call that the log says they followed', () => {
    const log = start()
    for (let index = 0; index < 5; index++) log.answer({ calls: [call('look'), call(`other ${index}`)] })
    for (let index = 0; index < 3; index++) log.answer({ calls: [call('find')] })
    expect(made(log).session.reminders.map(({ call: at, guard }) => [at, guard])).toEqual([[12, 'repeat-tool-reminder']])
  })

  it('belong to it also when others of the same step came later', () => {
    const log = start().answer({ calls: [call('look'), call('look'), call('look'), call('other')] })
    expect(made(log).session.reminders.map(({ call: at }) => at)).toEqual([2])
  })

  it('of which the log does not say it belong to none, wherever they stand', () => {
    const log = start()
    for (let index = 0; index < 3; index++) log.answer({ calls: [call('look')] })
    for (const { type, data } of log.events) if (type === 'tool/result') Reflect.deleteProperty(data as object, 'contextIds')
    expect(made(log).session.reminders.map(({ call: at }) => at)).toEqual([undefined])
    expect(countsOf(made(log.answer({ calls: [call('look')] })))).toEqual([1, 2, 3, 4])
  })
})

describe('the sentence', () => {
  const said = (analysis: Analysis): string => plain(verdictOf(analysis))

  it('tells of the longest run, its results, what acted and what a cap spares', () => {
    const log = start()
    for (let index = 0; index < 4; index++) log.answer({ modelMs: 1000, input: 1000, calls: [{ ...call('look', { a: 1 }), ms: 500 }] })
    expect(said(made(log, {}, PRICES))).toBe(
      'look {"a":1} was called 4 times in a row, always with the same result. 1 reminder followed. A cap at 3 would have spared up to 1 call, 1.50 s and 1,000 input tokens ($0.0024).',
    )
  })

  it('compares the results of that run, and not those of other times', () => {
    const log = start()
    for (let index = 0; index < 3; index++) log.answer({ calls: [call('look', {}, 'same')] })
    log.answer({ calls: [call('other'), call('look', {}, 'unlike')] }).end()
    expect(said(made(log))).toMatch(/^look \{\} was called 3 times in a row, always with the same result\./)
    const moving = start()
    for (let index = 0; index < 3; index++) moving.answer({ calls: [call('look', {}, `${index} of 9`)] })
    expect(said(made(moving.end()))).toMatch(/in a row, with 3 different results\./)
    const timed = start()
    for (let index = 0; index < 3; index++) timed.answer({ calls: [call('look', {}, `at 12:00:0${index}`)] })
    expect(said(made(timed.end()))).toMatch(/in a row, with results that differ in times and ids only\./)
  })

  it.each<[string, (log: Recorder) => Recorder, string]>([
    ['a timeout', (log) => log.answer({ calls: [{ name: 'wait', code: 'TOOL_TIMEOUT', ms: 5000 }] }), 'wait {} timed out, after 5.00 s.'],
    [
      'a turn that ended otherwise',
      (log) => log.answer({ calls: [call('a')] }).end({ kind: 'aborted', reason: { kind: 'limit', limit: 'maxTurnSteps' } }),
      'Turn 1 ended otherwise than completed: aborted by limit maxTurnSteps.',
    ],
    [
      'a turn that failed',
      (log) => log.answer({ calls: [call('a')] }).end({ kind: 'error', error: { code: 'SERVER', message: 'x' } }),
      'Turn 1 ended otherwise than completed: error SERVER.',
    ],
    [
      'many errors',
      (log) => log.answer({ calls: [{ name: 'a', isError: true }, call('b')] }).end(),
      '1 of 2 calls failed. No call was made 3 times in a row.',
    ],
    [
      'nothing',
      (log) => log.answer({ calls: [call('a')] }).end(),
      'Nothing stands out: no call was made 3 times in a row, and none timed out.',
    ],
    ['no call', (log) => log.answer({ text: 'hi' }).end(), 'No tool was called, so there is nothing that a guard could say.'],
  ])('tells of %s', (_what, write, sentence) => {
    expect(said(made(write(start())))).toBe(sentence)
  })

  it('goes by the thresholds that were given', () => {
    const log = start()
      .answer({ calls: [call('a')] })
      .answer({ calls: [call('a')] })
      .end()
    expect(said(made(log))).toMatch(/^Nothing stands out/)
    expect(said(made(log, { thresholds: [4, 2] }))).toMatch(/^a \{\} was called twice in a row/)
  })
})

describe('the line', () => {
  it('has tokens that were not recorded, and one of a thing', () => {
    const log = start()
    for (let index = 0; index < 4; index++) log.answer({ calls: [{ ...call('look'), ...(index === 3 && { code: 'TOOL_TIMEOUT' }) }] })
    expect(lineOf(made(log).figures)).toBe('look ×4 in a row, 1 reminder, 1 timeout; a cap at 3 spares ≤ 1 call, tokens not recorded')
    expect(lineOf(made(log, { thresholds: [5] }).figures)).toBe('look ×4 in a row, 1 reminder, 1 timeout; a cap at 5 spares nothing')
  })
})

it('of repeated calls the one with the longest run comes first, though another was made more often', () => {
  const log = start()
  for (let index = 0; index < 4; index++) log.answer({ calls: [call('often'), call(`other ${index}`)] })
  for (let index = 0; index < 2; index++) log.answer({ calls: [call('run')] })
  const { series, tones } = made(log)
  expect(series.slice(0, 2).map(({ longest, calls }) => [calls[0]?.name, longest, calls.length])).toEqual([
    ['run', 2, 2],
    ['often', 1, 4],
  ])
  expect([...tones.values()]).toEqual([1])
})

it('calls of one step that share an id get their results in order', () => {
  const log = start().answer({ calls: [call('a', {}, 'first'), call('b', {}, 'second')] })
  const events = JSON.parse(JSON.stringify(log.events).replaceAll(/"call_\d+"/g, '"same"')) as unknown[]
  const { calls } = analysisOf('s', sessionOfLog(events, false, []), {}, undefined)
  expect(calls.map(({ name, outcome }) => [name, outcome?.text])).toEqual([
    ['a', 'first'],
    ['b', 'second'],
  ])
})

it('what the rules find is what an audit finds, by the place of the call, though ids are used twice', () => {
  const log = start()
  for (let index = 0; index < 5; index++) log.answer({ calls: [call('look')] })
  const text = log.jsonl.replaceAll(/"(?:call_|m)?(?:callId|id|toolCallId)":"call_\d+"/g, (found) => found.replace(/call_\d+/, 'same'))
  const events = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
  const { spoken, calls } = analysisOf('s', sessionOfLog(events, false, []), {}, undefined)
  expect(calls.map(({ outcome }) => outcome?.text)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok'])
  expect(spoken.map(({ guard, call: at, count, callsAfter }) => [guard, at, count, callsAfter])).toEqual([
    ['repeat-tool-reminder', 2, 3, 2],
    ['repeat-tool-reminder', 4, 5, 0],
  ])
  expect(analysisOf('s', sessionOfLog(events, false, []), { guards: ['no-news-run'] }, undefined).spoken).toEqual([])
})
