import type { Session, SessionEvent } from '@loopguard/session'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Ledger, ledgers } from '../src/ledger.ts'
import { LIMITS, RULES } from '../src/limits.ts'
import { Recount } from '../src/recount.ts'

type Entry = readonly [time: number, type: string, data?: object]

/** A log of such events, as far as the fold reads them. */
const logOf = (entries: readonly Entry[]): SessionEvent[] =>
  entries.map(([time, type, data = {}], seq) => ({ seq, time, type, data: { turn: 1, step: 1, ...data } }) as unknown as SessionEvent)

const all = (): boolean => true
const msOf = (entries: readonly Entry[], now: number): number[] => {
  const ledger = new Ledger(logOf(entries), all).catchUp()
  return [ledger.used(RULES.maxTurnMs, now), ledger.used(RULES.maxAgentMs, now)]
}
const ended = (kind: string): object => ({ reason: { kind } })

describe('the time of a turn', () => {
  it('runs while it is open, and is over with its end', () => {
    expect(msOf([[100, 'turn/start']], 250)).toEqual([150, 150])
    expect(
      msOf(
        [
          [100, 'turn/start'],
          [300, 'turn/end', ended('completed')],
        ],
        5_000,
      ),
    ).toEqual([0, 200])
    expect(
      msOf(
        [
          [100, 'turn/start'],
          [300, 'turn/end', ended('blocked')],
          [1_000, 'turn/start'],
        ],
        1_010,
      ),
    ).toEqual([10, 210])
  })

  it('is never below nothing, when the clock was set back', () => {
    expect(msOf([[100, 'turn/start']], 50)).toEqual([0, 0])
    expect(
      msOf(
        [
          [100, 'turn/start'],
          [20, 'turn/end', ended('completed')],
        ],
        50,
      ),
    ).toEqual([0, 0])
  })

  it('ends once: a second end adds nothing', () => {
    expect(
      msOf(
        [
          [100, 'turn/start'],
          [300, 'turn/end', ended('completed')],
          [9_000, 'turn/end', ended('completed')],
        ],
        9_000,
      ),
    ).toEqual([0, 200])
  })

  const unanswered = (code: string): Entry => [9_000, 'tool/result', { error: { code } }]
  const repair: Entry[] = [
    [9_000, 'inbox/removed', { cause: 'claimed' }],
    unanswered('TOOL_OUTCOME_UNKNOWN'),
    unanswered('TOOL_NOT_STARTED'),
    [9_000, 'step/end'],
    [9_000, 'turn/end', ended('interrupted')],
  ]

  it.each<[string, Entry]>([
    ['a step that was started', [400, 'step/start']],
    ['a call', [400, 'tool/call', { name: 'look' }]],
    ['a result', [400, 'tool/result']],
    ['a result with another failure', [400, 'tool/result', { error: { code: 'DENIED' } }]],
    ['a message that was queued', [400, 'inbox/queued']],
    ['a message that was discarded', [400, 'inbox/removed', { cause: 'discarded' }]],
    ['an event of a plugin', [400, 'todo/write']],
  ])('that was interrupted ends with its last event before the repair: %s', (_what, last) => {
    expect(msOf([[100, 'turn/start'], last, ...repair], 20_000)).toEqual([0, 300])
  })

  it('that was interrupted at its start took none', () => {
    expect(
      msOf(
        [
          [100, 'turn/start'],
          [9_000, 'turn/end', ended('interrupted')],
        ],
        20_000,
      ),
    ).toEqual([0, 0])
  })
})

it('a ledger goes on where it has stopped, and each session has one', () => {
  const events = logOf([
    [0, 'turn/start'],
    [0, 'step/start'],
  ])
  const session = { events } as unknown as Session
  const ledgerOf = ledgers((tool) => tool !== 'note')
  const first = ledgerOf(session)
  expect(first.steps).toBe(1)
  events.push(
    ...logOf([
      [0, 'step/start'],
      [0, 'tool/call', { name: 'note' }],
      [0, 'tool/call', { name: 'look' }],
    ]),
  )
  expect(ledgerOf(session)).toBe(first)
  expect([first.steps, first.used(RULES.maxCallsPerTurn, 0), first.used(RULES.maxCallsPerAgent, 0)]).toEqual([2, 1, 1])
  expect(ledgerOf({ events: [] } as unknown as Session).steps).toBe(0)
})

const entry = fc.oneof(
  fc.constant<[string, object]>(['turn/start', {}]),
  fc.constantFrom<[string, object]>(['turn/end', ended('completed')], ['turn/end', ended('blocked')]),
  fc.constant<[string, object]>(['step/start', {}]),
  fc.constantFrom<[string, object]>(['tool/call', { name: 'look' }], ['tool/call', { name: 'note' }]),
  fc
    .record({ inputTokens: fc.nat(99), outputTokens: fc.integer({ min: -9, max: 99 }) })
    .map((usage): [string, object] => ['assistant/message', { usage }]),
  fc.constantFrom<[string, object]>(['assistant/message', {}], ['assistant/message', { usage: { inputTokens: 'a', outputTokens: NaN } }]),
  fc.constantFrom(...LIMITS).map((limit): [string, object] => ['budget/reached', { limit, value: 3 }]),
)

it('counts any log as the companion does, however often it is asked in between', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 60 }), fc.array(fc.nat(60)), (entries, stops) => {
      const events = logOf(entries.map(([type, data], index) => [index * 10, type, type === 'turn/start' ? { turn: index } : data]))
      const seen: SessionEvent[] = []
      const [ledger, recount] = [new Ledger(seen, (tool) => tool !== 'note'), new Recount(seen, (tool) => tool !== 'note')]
      for (const [index, event] of events.entries()) {
        seen.push(event)
        if (index < events.length - 1 && !stops.includes(index)) continue
        ledger.catchUp()
        const used = LIMITS.filter((limit) => limit !== 'maxEqualCalls')
        expect(used.map((limit) => [limit, ledger.used(RULES[limit], 999)])).toEqual(used.map((limit) => [limit, recount.used(limit, 999)]))
        // What is told outside of a turn is told of none.
        const told = LIMITS.filter((limit) => RULES[limit].per === 'agent' || ledger.isOpen)
        expect(told.map((limit) => [limit, ledger.hasTold(limit, 3)])).toEqual(told.map((limit) => [limit, recount.hasTold(limit, 3)]))
      }
    }),
  )
})
