import type { Context } from '@deepseek-ai/cordis'
import type { Session, SessionEvent, SessionEventMap, SessionEventType } from '@loopguard/session'
import { type InvariantWatch, mountInvariants } from '@loopguard/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conversations } from './conversation.ts'
import { assistant, codeOfRejection, type Entry, hostWith, linesOf, resultOf, tempDir, thrownBy, typesOf, user, write } from './support.ts'

const place = { turn: 1, step: 1 }
const turn: Entry = ['turn/start', { turn: 1 }]
const step: Entry = ['step/start', place]
const call = (callId: string, where = place): Entry => ['tool/call', { ...where, callId, name: 'read', arguments: '{}' }]
const result = (id: string, where = place): Entry => ['tool/result', { ...where, message: resultOf(id, 'ok') }]
const unstarted = (id: string): Entry => [
  'tool/result',
  { ...place, message: resultOf(id, 'no'), error: { name: 'ToolInterruptedError', code: 'TOOL_NOT_STARTED' } },
]
const asks = (...calls: string[]): Entry => ['assistant/message', { ...place, message: assistant('', calls) }]
const turnEnd: Entry = ['turn/end', { turn: 1, reason: { kind: 'completed' } }]
const stepEnd: Entry = ['step/end', place]

interface Watched {
  readonly ctx: Context
  readonly watch: InvariantWatch
}

async function watched(directory?: string): Promise<Watched> {
  const ctx = await hostWith(directory === undefined ? {} : { directory }, { invariants: false })
  return { ctx, watch: await mountInvariants(ctx, { package_allowlist: ['^@loopguard/session$'] }) }
}

function append(session: Session, [type, data]: Entry): SessionEvent {
  return session.append(type, data as SessionEventMap[SessionEventType] as never)
}

/** What the companion says of an event that it refuses: nothing of it is in the log, nor in its file. */
async function refusalOf(before: readonly Entry[], refused: Entry): Promise<string> {
  const directory = tempDir()
  const { ctx, watch } = await watched(directory)
  const session = write(ctx.sessions.create('a'), before)
  const [log, lines] = [typesOf(session), linesOf(directory, 'a')]
  const error = thrownBy(() => append(session, refused))
  expect(error.code).toBe('INVARIANT')
  watch.assertBroken('@loopguard/session', /^invariant violated by "@loopguard\/session": session "a": /)
  expect(watch.violations).toEqual([error])
  expect([typesOf(session), linesOf(directory, 'a')]).toEqual([log, lines])
  return error.message.split('session "a": ')[1] as string
}

describe('events are numbered without a gap', () => {
  it('trips when an event is taken out of the log behind its back', async () => {
    const { ctx, watch } = await watched()
    const session = write(ctx.sessions.create('a'), [turn, ['test/note', 1]])
    ;(session.events as SessionEvent[]).splice(1, 1)
    expect(() => append(session, ['test/note', 2])).toThrow('"test/note" has seq 2, expected 3')
    watch.assertBroken('@loopguard/session', /session "a": "test\/note" has seq 2, expected 3$/)
  })
})

describe('a log starts once, with its first event', () => {
  it('trips when a plugin tells of a start in the middle of a log, or of a log without one', async () => {
    const { ctx, watch } = await watched()
    const { id, events } = ctx.sessions.create('a')
    const start = events[0] as SessionEvent
    const tell = (log: readonly SessionEvent[], event: SessionEvent) => () =>
      ctx.emit('session/event', { id, events: log } as Session, event)
    expect(tell(events, { ...start, seq: 1 })).toThrow('session "a": "session/start" cannot be event 1')
    expect(tell([], { ...start, type: 'test/note' } as never)).toThrow('session "a": "test/note" cannot be event 0')
    expect(watch.violations).toHaveLength(2)
    watch.assertBroken('@loopguard/session', /"test\/note" cannot be event 0$/)
  })
})

describe('turns and steps enclose what is theirs', () => {
  it('trips when a turn starts inside another', async () => {
    expect(await refusalOf([turn], ['turn/start', { turn: 2 }])).toBe('turn 2 starts inside turn 1')
  })

  it('trips when a turn ends that is not open', async () => {
    expect(await refusalOf([], turnEnd)).toBe('turn 1 ends while no turn is open')
  })

  it('trips when a turn ends inside a step', async () => {
    expect(await refusalOf([turn, step], turnEnd)).toBe('turn 1 ends inside step 1')
  })

  it('trips when a step starts outside of its turn', async () => {
    expect(await refusalOf([], step)).toBe('step 1 of turn 1 starts while no turn is open')
    expect(await refusalOf([turn], ['step/start', { turn: 2, step: 1 }])).toBe('step 1 of turn 2 starts while turn 1 is between steps')
  })

  it('trips when a step starts inside another', async () => {
    expect(await refusalOf([turn, step], ['step/start', { turn: 1, step: 2 }])).toBe('step 2 starts inside step 1')
  })

  it('trips when a step ends that is not open', async () => {
    expect(await refusalOf([turn], stepEnd)).toBe('step 1 of turn 1 ends while turn 1 is between steps')
    expect(await refusalOf([turn, step], ['step/end', { turn: 1, step: 2 }])).toBe('step 2 of turn 1 ends while step 1 of turn 1 is open')
  })

  it('trips when an answer of the model stands outside of its step', async () => {
    expect(await refusalOf([turn], asks())).toBe('an assistant message of step 1 of turn 1 while turn 1 is between steps')
  })

  it('trips when a failed attempt stands outside of its step', async () => {
    const failure = { message: 'no', code: 'NO' }
    const failed: Entry = ['request/failed', { ...place, attempt: 1, failure }]
    expect(await refusalOf([turn], failed)).toBe('"request/failed" of step 1 of turn 1 while turn 1 is between steps')
    const retry: Entry = ['request/retry', { ...place, retry: 1, maxRetries: 2, delayMs: 3, failure }]
    expect(await refusalOf([turn, step, stepEnd], retry)).toBe('"request/retry" of step 1 of turn 1 while turn 1 is between steps')
  })

  it('trips when a call stands outside of its step', async () => {
    const elsewhere = { turn: 1, step: 2 }
    expect(await refusalOf([turn, step, asks('c1')], call('c1', elsewhere))).toBe(
      'call "c1" of step 2 of turn 1 while step 1 of turn 1 is open',
    )
  })
})

describe('every result answers an open call', () => {
  it('trips when a result answers nobody', async () => {
    expect(await refusalOf([turn, step, asks()], result('c1'))).toBe('a result answers no open call: "c1"')
  })

  it('trips when a call is answered twice', async () => {
    expect(await refusalOf([turn, step, asks('c1'), call('c1'), result('c1')], result('c1'))).toBe('a result answers no open call: "c1"')
  })

  it('trips when a call that never started gets an ordinary result', async () => {
    expect(await refusalOf([turn, step, asks('c1')], result('c1'))).toBe('a result answers call "c1", which was not logged')
  })

  it('trips when a call that nobody asked for is said not to have started', async () => {
    expect(await refusalOf([turn, step, asks('c1')], unstarted('c2'))).toBe('a result answers no open call: "c2"')
  })

  it('trips when a result stands outside of its step', async () => {
    const elsewhere = { turn: 1, step: 2 }
    expect(await refusalOf([turn, step, asks('c1'), call('c1')], result('c1', elsewhere))).toBe(
      'a result of call "c1" of step 2 of turn 1 while step 1 of turn 1 is open',
    )
  })

  it('trips when a step ends with a call unanswered', async () => {
    expect(await refusalOf([turn, step, asks('c1', 'c2', 'c3'), call('c1'), result('c1'), call('c2')], stepEnd)).toBe(
      'step 1 ends with unanswered calls: "c2", "c3"',
    )
    expect(await refusalOf([turn, step, asks('same', 'same'), call('same'), result('same')], stepEnd)).toBe(
      'step 1 ends with unanswered calls: "same"',
    )
  })
})

describe('the companion is silent about', () => {
  const silent = async (entries: readonly Entry[]): Promise<void> => {
    const { ctx, watch } = await watched()
    expect(typesOf(write(ctx.sessions.create('a'), entries))).toHaveLength(entries.length + 1)
    watch.assertNone()
  }

  it('every conversation that nests', { timeout: 60_000 }, async () => {
    await expect(fc.assert(fc.asyncProperty(conversations, silent), { numRuns: 50 })).resolves.toBeUndefined()
  })

  it('an answer to a call that did not start, with the code that says so', async () => {
    await expect(
      silent([turn, step, asks('c1', 'c2'), call('c1'), result('c1'), unstarted('c2'), stepEnd, turnEnd]),
    ).resolves.toBeUndefined()
  })

  it('one id for several calls, as some models have it', async () => {
    const twice = [turn, step, asks('c1', 'c1')]
    await expect(silent([...twice, call('c1'), call('c1'), result('c1'), result('c1'), stepEnd])).resolves.toBeUndefined()
    await expect(silent([...twice, call('c1'), result('c1'), unstarted('c1'), stepEnd])).resolves.toBeUndefined()
  })

  it('the same id in a later step', async () => {
    const later = { turn: 1, step: 2 }
    await expect(
      silent([
        turn,
        step,
        asks('c1'),
        call('c1'),
        result('c1'),
        stepEnd,
        ['step/start', later],
        ['assistant/message', { ...later, message: assistant('', ['c1']) }],
        call('c1', later),
        result('c1', later),
        ['step/end', later],
        turnEnd,
      ]),
    ).resolves.toBeUndefined()
  })

  it('what others write: messages between turns, and types that nobody knows', async () => {
    await expect(silent([['user/message', user('hi')], turn, ['test/note', 1], turnEnd, ['test/note', { a: 1 }]])).resolves.toBeUndefined()
  })

  it('what an event says that a listener appends on hearing of another', async () => {
    const { ctx, watch } = await watched()
    ctx.on('session/event', (session, { type }) => {
      if (type === 'turn/start') write(session, [step])
      if (type === 'step/start') write(session, [asks('c1'), call('c1'), result('c1'), stepEnd, turnEnd])
    })
    const session = write(ctx.sessions.create('a'), [turn])
    expect(typesOf(session).slice(1)).toEqual([turn, step, asks('c1'), call('c1'), result('c1'), stepEnd, turnEnd].map(([type]) => type))
    watch.assertNone()
  })
})

it('judges what is appended after it was loaded, and by all that was appended before', async () => {
  const ctx = await hostWith({}, { invariants: false })
  const session = write(ctx.sessions.create('a'), [turn, step, asks('c1'), call('c1')])
  const watch = await mountInvariants(ctx)
  expect(() => append(session, stepEnd)).toThrow('step 1 ends with unanswered calls: "c1"')
  write(session, [result('c1'), stepEnd, turnEnd])
  expect(watch.violations).toHaveLength(1)
})

it('a log that was broken before does not block what comes after it', async () => {
  const ctx = await hostWith({}, { invariants: false })
  const session = write(ctx.sessions.create('a'), [turn, step, asks('c1', 'c2'), turnEnd, result('c1'), ['turn/start', { turn: 2 }]])
  const watch = await mountInvariants(ctx)
  const later: Entry[] = [
    ['turn/end', { turn: 2, reason: { kind: 'interrupted' } }],
    ['turn/start', { turn: 3 }],
    ['step/start', { turn: 3, step: 1 }],
    ['step/end', { turn: 3, step: 1 }],
  ]
  expect(typesOf(write(session, later)).slice(-4)).toEqual(later.map(([type]) => type))
  watch.assertNone()
})

it('judges the events that close a log which a killed process left open', async () => {
  const directory = tempDir()
  const before = await hostWith({ directory })
  const left = write(before.sessions.create('a'), [turn, step, asks('c1', 'c2'), call('c1')])
  left.close()
  const { ctx, watch } = await watched(directory)
  const session = await ctx.sessions.load('a')
  expect(typesOf(session).slice(-4)).toEqual(['tool/result', 'tool/result', 'step/end', 'turn/end'])
  write(session, [['turn/start', { turn: 2 }]])
  watch.assertNone()
})

it('a refused event is refused to whoever loads a session, too', async () => {
  const directory = tempDir()
  const before = await hostWith({ directory }, { invariants: false })
  write(before.sessions.create('a'), [turn, step]).close()
  const { ctx, watch } = await watched(directory)
  ctx.on('internal/dispatch', (_mode, event, args) => {
    if (event === 'session/event' && (args[1] as SessionEvent).type === 'step/end') throw Object.assign(new Error('no'), { code: 'VETO' })
  })
  expect(await codeOfRejection(ctx.sessions.load('a'))).toBe('VETO')
  watch.assertNone()
})

it('an event that somebody else refused is no part of the log that it judges by', async () => {
  const { ctx, watch } = await watched()
  const session = write(ctx.sessions.create('a'), [turn])
  const dispose = ctx.on('internal/dispatch', (_mode, event) => {
    if (event === 'session/event') throw new Error('not now')
  })
  expect(() => append(session, step)).toThrow('not now')
  dispose()
  write(session, [step, stepEnd, turnEnd])
  watch.assertNone()
})

it('refuses nothing once it is unloaded', async () => {
  const { ctx, watch } = await watched()
  const session = ctx.sessions.create('a')
  await ctx.invariants
    .registrations()
    .find(({ packageName }) => packageName === '@loopguard/session')
    ?.fiber?.dispose()
  expect(append(session, turnEnd).seq).toBe(1)
  watch.assertNone()
})
