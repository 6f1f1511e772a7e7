import type { Session, SessionEvent } from '@loopguard/session'
import { expect, it } from 'vitest'
import { codeThrownBy, hostWith, storeIn, storyOf, thrownBy, typesOf, user } from './support.ts'

it('returns the committed event: seq from 0 without a gap, the time, the type and the data', async () => {
  const session = (await storeIn()).create('a')
  const before = Date.now()
  const event = session.append('turn/start', { turn: 1 })
  expect(event).toEqual({ seq: 1, time: expect.any(Number), type: 'turn/start', data: { turn: 1 } })
  expect(event.time).toBeGreaterThanOrEqual(before)
  expect(event.time).toBeLessThanOrEqual(Date.now())
  expect(session.events).toEqual([{ seq: 0, time: expect.any(Number), type: 'session/start', data: { version: 1, id: 'a' } }, event])
  expect(Array.isArray(session.events)).toBe(true)
})

it('detaches the data and freezes the event at every depth', async () => {
  const session = (await storeIn()).create('a')
  const data = { list: [{ deep: { x: 1 } }] }
  const event = session.append('test/note', data) as { data: typeof data }
  data.list[0]!.deep.x = 2
  expect(event.data).toEqual({ list: [{ deep: { x: 1 } }] })
  for (const part of [event, event.data, event.data.list, event.data.list[0], event.data.list[0]!.deep])
    expect(Object.isFrozen(part)).toBe(true)
})

it('takes an immutable message as it is, without a copy', async () => {
  const session = (await storeIn()).create('a')
  const message = user('hello')
  expect(session.append('user/message', message).data).toBe(message)
})

it('keeps types that nobody knows', async () => {
  const session = (await storeIn()).create('a')
  session.append('test/note', { any: ['thing', null] })
  expect(storyOf(session)).toEqual([['test/note', { any: ['thing', null] }]])
})

it('refuses data that JSON cannot hold, with the path, and leaves no trace', async () => {
  const ctx = await hostWith()
  const session = ctx.sessions.create('a')
  const heard: string[] = []
  ctx.on('session/event', (_session, event) => void heard.push(event.type))
  const bad: [unknown, string][] = [
    [{ a: { b: undefined } }, 'data.a.b is undefined'],
    [{ list: [1, 2, 3n] }, 'data.list[2] is a bigint'],
    [undefined, 'data is undefined'],
    [{ n: Number.NaN }, 'data.n is NaN'],
    [{ when: new Date(0) }, 'data.when is a Date'],
  ]
  for (const [data, message] of bad) expect(thrownBy(() => session.append('test/note', data)).message).toContain(message)
  expect([typesOf(session), heard]).toEqual([['session/start'], []])
  session.append('turn/start', { turn: 1 })
  expect(session.events.map(({ seq }) => seq)).toEqual([0, 1])
})

it.each([
  ['turn/start', { turn: 0 }, 'data.turn must be an integer >= 1, got 0'],
  ['turn/start', { turn: 2 ** 53 }, 'data.turn must be an integer >= 1, got 9007199254740992'],
  ['turn/start', null, 'data must be an object, got null'],
  ['turn/end', { reason: { kind: 'completed' } }, 'data.turn must be an integer >= 1, got undefined'],
  ['step/end', { turn: 1, step: 0 }, 'data.step must be an integer >= 1, got 0'],
  ['step/start', { turn: 1 }, 'data.step must be an integer >= 1, got undefined'],
  ['user/message', { text: 'hi' }, 'data must be a message of role "user" with an id, got an object'],
  ['user/message', { id: 'm', role: 'user', content: 'hi' }, 'data.content must be a list of blocks, got "hi"'],
  ['assistant/message', { turn: 1, step: 1 }, 'data.message must be a message of role "assistant" with an id, got undefined'],
  ['tool/call', { turn: 1, step: 1 }, 'data.callId must be text, got undefined'],
  ['tool/result', { turn: 1, step: 1, message: { id: 'm', role: 'user', content: [] } }, 'data.message.source must name a callId'],
  ['user/message', { id: '', role: 'user', content: [], source: { kind: 'user' } }, 'data.id must be non-empty text, got ""'],
  ['user/message', { id: 'm', role: 'user', content: [] }, 'data.source must have a kind, got undefined'],
  [
    'inbox/queued',
    { target: 'next-step', message: { id: 'm', role: 'user', content: [{ type: 'text' }], source: { kind: 'user' } } },
    'data.message.content[0].text must be text, got undefined',
  ],
  ['inbox/queued', { target: 'later' }, 'data.target must be next-step or next-turn, got "later"'],
  ['inbox/removed', { ids: 'm' }, 'data.ids must be a list, got "m"'],
  ['session/start', { version: 1, id: 'a' }, 'session/start must come first'],
])('refuses a %s that is malformed: %j', async (type, data, message) => {
  const session = (await storeIn()).create('a')
  const error = thrownBy(() => session.append(type as 'test/note', data))
  expect([error.code, error.message]).toEqual(['BAD_EVENT', `session "a": "${type}": ${message}`])
  expect(session.events).toHaveLength(1)
})

it.each([[''], ['  '], [undefined], [7]])('refuses the event type %j', async (type) => {
  const session = (await storeIn()).create('a')
  expect(codeThrownBy(() => session.append(type as 'test/note', {}))).toBe('BAD_EVENT')
})

it('publishes what a listener appends after the current event, and commits it at once', async () => {
  const ctx = await hostWith()
  const heard: string[] = []
  const note = (name: string) => (session: Session, event: SessionEvent) => {
    heard.push(`${name}: ${event.type}`)
    if (name === 'first' && event.type === 'turn/start') {
      session.append('step/start', { turn: 1, step: 1 })
      session.append('step/end', { turn: 1, step: 1 })
      heard.push(`committed: ${typesOf(session).join(' ')}`)
    }
  }
  ctx.on('session/event', note('first'))
  ctx.on('session/event', note('second'))
  ctx.sessions.create('a').append('turn/start', { turn: 1 })
  expect(heard).toEqual([
    'first: session/start',
    'second: session/start',
    'first: turn/start',
    'committed: session/start turn/start step/start step/end',
    'second: turn/start',
    'first: step/start',
    'second: step/start',
    'first: step/end',
    'second: step/end',
  ])
})

it('contains a listener that throws or rejects: the others hear the event, and the append returns', async () => {
  const ctx = await hostWith()
  const errors: string[] = []
  ctx.logger.exporter({ export: ({ type, args }) => void errors.push(`${type} ${String(args[0])}`) })
  await ctx.plugin({
    name: 'loud',
    apply(inner: typeof ctx) {
      inner.on('session/event', () => {
        throw new Error('sync')
      })
      inner.on('session/event', async () => {
        throw new Error('async')
      })
    },
  })
  const heard: string[] = []
  ctx.on('session/event', (_session, event) => void heard.push(event.type))
  ctx.sessions.create('a')
  await Promise.resolve()
  expect(heard).toEqual(['session/start'])
  expect(errors).toEqual([
    'error session/event: a listener of plugin "loud" failed: sync',
    'error session/event: a listener of plugin "loud" failed: async',
  ])
})

it('is refused by a throw in internal/dispatch, before anything is committed or heard', async () => {
  const ctx = await hostWith()
  const session = ctx.sessions.create('a')
  const heard: string[] = []
  ctx.on('session/event', (_session, event) => void heard.push(event.type))
  const veto = ctx.on('internal/dispatch', (_mode, name, args) => {
    if (name === 'session/event') throw new Error(`no ${(args[1] as SessionEvent).type} after ${(args[0] as Session).events.length} events`)
  })
  expect(() => session.append('turn/start', { turn: 1 })).toThrow('no turn/start after 1 events')
  expect([typesOf(session), heard]).toEqual([['session/start'], []])
  veto()
  session.append('turn/start', { turn: 1 })
  expect([session.events.map(({ seq }) => seq), heard]).toEqual([[0, 1], ['turn/start']])
})

it('is refused while another event is being judged, so that no two events get one seq', async () => {
  const ctx = await hostWith()
  const session = ctx.sessions.create('a')
  const codes: (string | undefined)[] = []
  const judge = ctx.on('internal/dispatch', (_mode, name) => {
    if (name === 'session/event') codes.push(codeThrownBy(() => session.append('test/note', 'from the judge')))
  })
  session.append('turn/start', { turn: 1 })
  judge()
  session.append('step/start', { turn: 1, step: 1 })
  expect(codes).toEqual(['APPEND_WHILE_JUDGED'])
  expect(session.events.map(({ seq, type }) => `${seq} ${type}`)).toEqual(['0 session/start', '1 turn/start', '2 step/start'])
})

it('is refused when the session is closed while the event is being judged', async () => {
  const ctx = await hostWith()
  const session = ctx.sessions.create('a')
  ctx.on('internal/dispatch', (_mode, name) => {
    if (name === 'session/event') session.close()
  })
  expect(codeThrownBy(() => session.append('turn/start', { turn: 1 }))).toBe('SESSION_CLOSED')
  expect(typesOf(session)).toEqual(['session/start'])
})

it('keeps the events of a closed session readable, and takes no more', async () => {
  const session = (await storeIn()).create('a')
  session.close()
  session.close()
  const error = thrownBy(() => session.append('turn/start', { turn: 1 }))
  expect([error.code, error.message]).toEqual(['SESSION_CLOSED', 'session "a" is closed: it takes no "turn/start"'])
  expect([session.closed, typesOf(session)]).toEqual([true, ['session/start']])
})
