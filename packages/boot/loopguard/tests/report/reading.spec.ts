import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { analysisOf } from '../../src/report/figures/analysis.ts'
import { sessionOfLog } from '../../src/report/read/from-log.ts'
import { type Readers, readers, readSession } from '../../src/report/read/readers.ts'
import type { Session } from '../../src/report/read/session.ts'
import { folder } from '../cli.ts'
import { fixer } from './fixer.ts'
import { Recorder } from './recorder.ts'

let all: Readers
beforeAll(async () => {
  all = await readers()
})

function read(content: string): Session {
  return readSession(all, join(folder({ 'x.json': content }), 'x.json'))
}

const GENTLE =
  'You are repeating the exact same tool call with identical arguments. Carefully analyze the previous result before calling again: if the task is not complete, try a different approach or different arguments instead of repeating the call.'
const TIMES = [1, 2, 3, 4]
const lines = (values: readonly object[]): string => values.map((value) => JSON.stringify(value)).join('\n')

/** The same four equal calls, reminded after the third, in each format that is no log. */
const FORMATS: [string, string][] = [
  [
    'chat completions',
    JSON.stringify({
      model: 'm',
      messages: [
        { role: 'user', content: 'go' },
        ...TIMES.flatMap((n) => [
          { role: 'assistant', tool_calls: [{ id: `c${n}`, type: 'function', function: { name: 'look', arguments: '{"a":1}' } }] },
          { role: 'tool', tool_call_id: `c${n}`, content: 'same', is_error: true },
          ...(n === 3 ? [{ role: 'user', content: GENTLE }] : []),
        ]),
      ],
    }),
  ],
  [
    'Anthropic messages',
    JSON.stringify({
      model: 'm',
      messages: [
        { role: 'user', content: 'go' },
        ...TIMES.flatMap((n) => [
          { role: 'assistant', content: [{ type: 'tool_use', id: `c${n}`, name: 'look', input: { a: 1 } }] },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: `c${n}`, content: 'same', is_error: true },
              ...(n === 3 ? [{ type: 'text', text: GENTLE }] : []),
            ],
          },
        ]),
      ],
    }),
  ],
  [
    'OpenAI Responses',
    JSON.stringify({
      model: 'm',
      input: [
        { role: 'user', content: 'go' },
        ...TIMES.flatMap((n) => [
          { type: 'function_call', call_id: `c${n}`, name: 'look', arguments: '{"a":1}' },
          { type: 'function_call_output', call_id: `c${n}`, output: 'same' },
          ...(n === 3 ? [{ role: 'user', content: GENTLE }] : []),
        ]),
      ],
    }),
  ],
]

describe('a conversation that is no log', () => {
  it.each(FORMATS)('%s: has calls in their order, and reminders of no known call', (_name, content) => {
    const session = read(content)
    const { calls, figures } = analysisOf('x', session, {}, undefined)
    expect(calls.map(({ count, name, outcome }) => [count, name, outcome?.text])).toEqual(TIMES.map((n) => [n, 'look', 'same']))
    expect([session.models, session.startedAt, session.turns.length, session.requests.length]).toEqual([['m'], undefined, 1, 4])
    expect(session.reminders).toEqual([expect.objectContaining({ guard: 'repeat-tool-reminder', call: undefined })])
    expect(figures).toMatchObject({ timeouts: undefined, busyMs: undefined, tokens: undefined, reminders: 1 })
  })

  it('has a turn for each time that the user spoke', () => {
    const say = (role: string, content: string): object => ({ role, content })
    const { turns } = read(
      JSON.stringify([
        say('user', 'a'),
        say('assistant', 'b'),
        say('developer', 'x'),
        say('assistant', 'c'),
        say('user', 'd'),
        say('assistant', 'e'),
      ]),
    )
    expect(turns.map(({ turn, start, end }) => [turn, start, end])).toEqual([
      [1, 0, 2],
      [2, 2, 3],
    ])
  })

  it('places follow one another, each with its own', () => {
    const { requests, calls } = read(FORMATS[0]?.[1] ?? '')
    const spans = [...requests, ...calls].toSorted((a, b) => a.start - b.start).map(({ start, end }) => [start, end])
    expect(spans).toEqual(spans.map((_span, at) => [at, at + 1]))
  })
})

describe('a log', () => {
  it('that breaks off in its last line is read to there, and says so', () => {
    const whole = read(fixer())
    expect(whole.notes).toEqual([])
    const torn = read(`${fixer()}{"seq":108,"ti`)
    expect(torn.notes).toEqual(['The last line breaks off: its writer was killed, or writes it now.'])
    expect(torn.calls).toEqual(whole.calls)
  })

  it('that ends in the middle of a call has a call without a result, up to its end', () => {
    const log = new Recorder('s', 1000).ask('go').answer({ modelMs: 100, calls: [{ name: 'wait', ms: 50 }] })
    const cut = log.events.slice(
      0,
      log.events.findIndex(({ type }) => type === 'tool/result'),
    )
    cut.push({ seq: 9, time: 9000, type: 'inbox/queued', data: {} })
    const { calls, turns } = sessionOfLog(cut, true, [])
    expect(calls).toEqual([expect.objectContaining({ name: 'wait', outcome: undefined, start: 100, end: 8000 })])
    expect(turns).toEqual([{ turn: 1, start: 0, end: 8000, reason: undefined }])
  })

  it('of a running host says how long a body ran, and not how long its result waited', () => {
    const { calls } = sessionOfLog(
      new Recorder('s', 0).ask('go').answer({
        modelMs: 10,
        calls: [
          { name: 'slow', ms: 100, isParallel: true },
          { name: 'quick', ms: 5 },
        ],
      }).events,
      false,
      [],
    )
    expect(calls.map(({ name, start, end }) => [name, start, end])).toEqual([
      ['slow', 10, 110],
      ['quick', 10, 15],
    ])
  })

  it('says how long the attempt took that was answered, and not how long the step had waited before', () => {
    const log = new Recorder('s', 0).ask('go').answer({ modelMs: 100, failed: 'SERVER' })
    const answer = log.events.find(({ type }) => type === 'assistant/message')
    Object.assign(answer?.data as object, { durationMs: 60 })
    const { requests } = sessionOfLog(log.events, false, [])
    expect(requests.map(({ start, end, failure }) => [start, end, failure])).toEqual([
      [0, 100, 'SERVER'],
      [140, 200, undefined],
    ])
  })

  it('without durations has those of its events', () => {
    const log = new Recorder('s', 0)
      .ask('go')
      .wait(7)
      .answer({ modelMs: 10, calls: [{ name: 'a', ms: 100 }] })
    for (const { data } of log.events) for (const key of ['durationMs', 'firstTokenMs']) Reflect.deleteProperty(data as object, key)
    const { calls, requests } = sessionOfLog(log.events, false, [])
    expect([requests[0]?.start, requests[0]?.end, requests[0]?.stepEnd, calls[0]?.start, calls[0]?.end]).toEqual([7, 17, 117, 17, 117])
  })

  it('without times has places, as a conversation has', () => {
    const log = new Recorder('s', 0).ask('go')
    for (const name of ['a', 'b']) log.answer({ calls: [{ name }] })
    const { startedAt, calls, requests } = sessionOfLog(
      log.events.map(({ type, data }) => ({ type, data })),
      false,
      [],
    )
    expect([startedAt, ...requests.map(({ start }) => start), ...calls.map(({ start }) => start)]).toEqual([undefined, 0, 2, 1, 3])
  })

  it('of the DeepSeek Harness is read alike: its first line, its headers, and what replaces earlier messages', () => {
    const log = new Recorder('s', 1000).ask('go').answer({ input: 7, calls: [{ name: 'look' }] })
    const replaced = {
      type: 'user/message',
      time: 1000,
      data: { content: [{ type: 'text', text: 'a summary' }], source: { kind: 'user' } },
      surfaceOp: { kind: 'replace', seq: 2 },
    }
    const events = [
      { type: 'session', version: 0, id: 's', createdAt: 1, cwd: '/' },
      { type: 'request/header', time: 1000, data: { header: { provider: 'p', model: 'm' }, reason: 'initial' } },
      ...log.events.slice(1),
      replaced,
      ...new Recorder('s', 2000)
        .ask('x')
        .answer({ calls: [{ name: 'look' }] })
        .events.slice(3),
    ]
    const session = read(lines(events))
    expect([session.models, session.startedAt]).toEqual([['p/m'], 1000])
    expect(analysisOf('x', session, {}, undefined).calls.map(({ count }) => count)).toEqual([1, 2])
  })

  it('as `loopguard run --json` prints it is read as the log of its first agent', () => {
    const log = new Recorder('s', 1000).ask('go').answer({ calls: [{ name: 'look' }] })
    const printed = [...log.events.map((event) => ({ agent: 'a', event })), { agent: 'b', event: log.events[2] }, { summary: { calls: 1 } }]
    const session = read(lines(printed))
    expect([session.id, session.startedAt, session.calls.length]).toEqual(['s', 1000, 1])
    expect(session.notes).toEqual(['the conversation of agent "a" is read; left out: "b"'])
  })

  it.each<[string, unknown]>([
    ['a time that is none', { time: 'soon' }],
    ['a negative time', { time: -1 }],
    ['a time that JSON has no name for', { time: null }],
  ])('with %s has no times at all', (_what, fields) => {
    const log = new Recorder('s', 1000).ask('go').answer({ calls: [{ name: 'look' }] })
    Object.assign(log.events[3] ?? {}, fields)
    expect(sessionOfLog(log.events, false, []).startedAt).toBeUndefined()
  })

  it.each<[string, object]>([
    ['usage', { usage: { inputTokens: 'many', outputTokens: -5 } }],
    ['usage of another type', { usage: 'none' }],
    ['a duration', { durationMs: 'long' }],
    ['a message', { message: null }],
  ])('in which %s is not what it should be has none of it', (_what, fields) => {
    const log = new Recorder('s', 1000).ask('go').answer({ input: 5, modelMs: 10 })
    Object.assign((log.events.find(({ type }) => type === 'assistant/message')?.data as object | undefined) ?? {}, fields)
    const { requests } = sessionOfLog(log.events, false, [])
    expect(requests).toHaveLength(1)
    expect([requests[0]?.start, requests[0]?.end, requests[0]?.usage === undefined]).toEqual([0, 10, 'usage' in fields])
  })

  it('names no more than a hundred characters of what it calls itself', () => {
    const name = 'x'.repeat(1000)
    const log = new Recorder(name, 0, `p/${name}`).ask('go').answer({ failed: name }).end({ kind: name })
    const { id, models, turns, requests } = sessionOfLog(log.events, false, [])
    for (const text of [id, models[0], turns[0]?.reason, requests[0]?.failure]) expect(text).toHaveLength(101)
  })
})
