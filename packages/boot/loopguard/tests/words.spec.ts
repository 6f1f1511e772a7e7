import { describe, expect, it } from 'vitest'
import { spanOf, waitingFor } from '../src/live/words.ts'
import { Activities } from '../src/show/activities.ts'
import type { LogEvent } from '../src/show/log-events.ts'

const NOTHING = { tokens: null }

/** Notes events, each at its time. */
function after(...events: readonly (readonly [atMs: number, agent: string, event: LogEvent])[]): Activities {
  let now = 0
  const activities = new Activities(() => now)
  for (const [atMs, agent, event] of events) {
    now = atMs
    activities.note(agent, event)
  }
  return activities
}

const turn: LogEvent = { type: 'turn/start', data: { turn: 1 } }
const step = (n: number): LogEvent => ({ type: 'step/start', data: { turn: 1, step: n } })
const answer = {
  type: 'assistant/message',
  data: { turn: 1, step: 1, message: { id: 'm', content: [], source: { kind: 'model' } } },
} as LogEvent
const call = (name: string, args = '{}', callId = name): LogEvent => ({
  type: 'tool/call',
  data: { turn: 1, step: 1, callId, name, arguments: args },
})
const result = (callId: string): LogEvent => ({
  type: 'tool/result',
  data: { turn: 1, step: 1, message: { id: 'r', content: [{ type: 'tool-result', toolCallId: callId }], source: { kind: 'tool' } } },
})
const end: LogEvent = { type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } }

describe('what is waited for', () => {
  it('is nothing before a turn and after it', () => {
    expect(waitingFor(after(), NOTHING, 5)).toBeUndefined()
    expect(waitingFor(after([0, 'a', turn], [1, 'a', step(1)], [2, 'a', end]), NOTHING, 5)).toBeUndefined()
  })

  it('is the model, then the call, then what comes between two steps', () => {
    const events = [
      [0, 'a', turn],
      [100, 'a', step(4)],
      [2100, 'a', answer],
      [2200, 'a', call('slow')],
      [9300, 'a', result('slow')],
    ] as const
    const said = (count: number, nowMs: number): string | undefined =>
      waitingFor(after(...events.slice(0, count)), { tokens: { input: 12_000, output: 300 } }, nowMs)
    expect(said(2, 2000)).toBe('the model 1.9 s · step 4 · 12,300 tokens')
    expect(said(3, 2250)).toBe('between two steps 0.1 s · step 4 · 12,300 tokens')
    expect(said(4, 9300)).toBe('slow {} 7.1 s · step 4 · 12,300 tokens')
    expect(said(5, 9500)).toBe('between two steps 0.2 s · step 4 · 12,300 tokens')
  })

  it('is the oldest of several calls, and says how many more there are', () => {
    const events = [
      [0, 'a', turn],
      [0, 'a', step(1)],
      [0, 'a', answer],
      [0, 'a', call('one')],
      [500, 'a', call('two')],
    ] as const
    expect(waitingFor(after(...events), NOTHING, 1000)).toBe('one {} (+1) 1.0 s · step 1')
    expect(waitingFor(after(...events, [900, 'a', result('one')]), NOTHING, 1000)).toBe('two {} 0.5 s · step 1')
  })

  it('is of the agent that has waited the longest, and says how many others wait', () => {
    const events = [
      [0, 'a', turn],
      [0, 'b', turn],
      [100, 'b', step(2)],
      [600, 'a', step(1)],
    ] as const
    expect(waitingFor(after(...events), NOTHING, 1000)).toBe('the model 0.9 s · b (+1) · step 2')
  })

  it.each([
    ['short arguments are whole', 'look', '{"q": "x"}', 'look {"q": "x"}'],
    ['long ones are not shown', 'look', `{"q":"${'x'.repeat(60)}"}`, 'look {…}'],
    ['of many lines they stay on one', 'look', '{\n  "q": 1\n}', 'look { "q": 1 }'],
    ['control characters are shown', 'lo\u001b[2Jok\n', '\u202e', String.raw`lo\x1b[2Jok  \u202e`],
    ['a long name is cut', 'n'.repeat(80), '{}', `${'n'.repeat(39)}… {}`],
    ['wide characters count twice', 'look', `"${'漢'.repeat(25)}"`, 'look {…}'],
  ])('%s', (_, name, args, expected) => {
    expect(waitingFor(after([0, 'a', turn], [0, 'a', call(name, args)]), NOTHING, 0)).toBe(`${expected} 0.0 s · step 0`)
  })
})

it.each([
  [-5, '0.0 s'],
  [59_999, '59.9 s'],
  [60_000, '1 min 00 s'],
  [65_000, '1 min 05 s'],
  [3_599_000, '59 min 59 s'],
  [3_720_000, '1 h 02 min'],
])('%i ms are %s', (ms, expected) => {
  expect(spanOf(ms)).toBe(expected)
})
