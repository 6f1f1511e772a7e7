import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lastHeader, lastTurn, pendingInbox, type SessionEvent } from '@loopguard/session'
import { expect, it } from 'vitest'
import { faultsIn } from './conversation.ts'
import {
  assistant,
  type Entry,
  hostWith,
  linesOf,
  rejectionOf,
  resultOf,
  storeIn,
  storyOf,
  tempDir,
  typesOf,
  user,
  write,
} from './support.ts'

const place = { turn: 1, step: 1 }
const call = (id: string): Entry => ['tool/call', { ...place, callId: id, name: 'read', arguments: '{}' }]

/** Writes the entries, leaves the session as a killed process would, and loads it. */
async function reloaded(entries: readonly Entry[]): Promise<{ added: [string, unknown][]; events: readonly SessionEvent[] }> {
  const directory = tempDir()
  const store = await storeIn(directory)
  const session = write(store.create('a'), entries)
  session.close()
  const again = await store.load('a')
  expect(again.events.slice(0, session.events.length)).toEqual(session.events)
  expect(linesOf(directory, 'a').map((line) => JSON.parse(line) as unknown)).toEqual(again.events)
  return { added: storyOf(again).slice(entries.length), events: again.events }
}

const interrupted: Entry = ['turn/end', { turn: 1, reason: { kind: 'interrupted' } }]

it('a log that nothing is open in is taken as it is', async () => {
  const { added } = await reloaded([
    ['turn/start', { turn: 1 }],
    ['turn/end', { turn: 1, reason: { kind: 'completed' } }],
  ])
  expect(added).toEqual([])
})

it('a turn that was left open between steps ends as interrupted', async () => {
  expect((await reloaded([['turn/start', { turn: 1 }]])).added).toEqual([interrupted])
  const { added } = await reloaded([
    ['turn/start', { turn: 1 }],
    ['step/start', place],
    ['step/end', place],
  ])
  expect(added).toEqual([interrupted])
})

it('a step that was left open before the model answered ends, then its turn', async () => {
  const { added } = await reloaded([
    ['turn/start', { turn: 1 }],
    ['step/start', place],
    ['user/message', user('hi')],
  ])
  expect(added).toEqual([['step/end', place], interrupted])
})

it('each call without a result gets one, in the order of the model, that says whether it had started', async () => {
  const { added, events } = await reloaded([
    ['turn/start', { turn: 1 }],
    ['step/start', place],
    ['user/message', user('hi')],
    ['assistant/message', { ...place, message: assistant('', ['answered', 'running', 'waiting', 'last']) }],
    call('answered'),
    call('running'),
    ['tool/result', { ...place, message: resultOf('answered', 'done') }],
  ])
  const answer = (callId: string, words: string, code: string): [string, unknown] => [
    'tool/result',
    {
      ...place,
      message: {
        id: expect.any(String),
        role: 'user',
        content: [{ type: 'tool-result', toolCallId: callId, content: [{ type: 'text', text: `Error: ${words}` }], isError: true }],
        source: { kind: 'tool', callId },
      },
      error: { name: 'ToolInterruptedError', code },
    },
  ]
  const waiting = 'the session was interrupted before this tool call started: it had no effect'
  expect(added).toEqual([
    answer('running', 'the session was interrupted while this tool call ran: whether it took effect is not known', 'TOOL_OUTCOME_UNKNOWN'),
    answer('waiting', waiting, 'TOOL_NOT_STARTED'),
    answer('last', waiting, 'TOOL_NOT_STARTED'),
    ['step/end', place],
    interrupted,
  ])
  expect(faultsIn(events)).toEqual([])
})

it.each([
  ['both were asked for', 0, ['TOOL_NOT_STARTED', 'TOOL_NOT_STARTED']],
  ['the first was started', 1, ['TOOL_OUTCOME_UNKNOWN', 'TOOL_NOT_STARTED']],
  ['the first was answered', 2, ['TOOL_NOT_STARTED']],
  ['the second was started', 3, ['TOOL_OUTCOME_UNKNOWN']],
  ['both were answered', 4, []],
])('two calls of one id are two calls: %s', async (_what, done, codes) => {
  const result: Entry = ['tool/result', { ...place, message: resultOf('same', 'done') }]
  const { added, events } = await reloaded([
    ['turn/start', { turn: 1 }],
    ['step/start', place],
    ['assistant/message', { ...place, message: assistant('', ['same', 'same']) }],
    ...[call('same'), result, call('same'), result].slice(0, done),
  ])
  const answers = added.filter(([type]) => type === 'tool/result').map(([, data]) => (data as { error: { code: string } }).error.code)
  expect(answers).toEqual(codes)
  expect(faultsIn(events)).toEqual([])
})

it('only the step that was left open is looked at', async () => {
  const second = { turn: 2, step: 2 }
  const { added } = await reloaded([
    ['turn/start', { turn: 1 }],
    ['turn/end', { turn: 1, reason: { kind: 'completed' } }],
    ['turn/start', { turn: 2 }],
    ['step/start', { turn: 2, step: 1 }],
    ['assistant/message', { turn: 2, step: 1, message: assistant('', ['c1']) }],
    ['tool/call', { turn: 2, step: 1, callId: 'c1', name: 'read', arguments: '{}' }],
    ['tool/result', { turn: 2, step: 1, message: resultOf('c1', 'done') }],
    ['step/end', { turn: 2, step: 1 }],
    ['step/start', second],
  ])
  expect(added).toEqual([
    ['step/end', second],
    ['turn/end', { turn: 2, reason: { kind: 'interrupted' } }],
  ])
})

it('the inbox, the last turn and the last header are those of the log', async () => {
  const [waiting, steering, gone] = [user('waiting'), user('steering'), user('gone')]
  const { events } = await reloaded([
    ['inbox/queued', { target: 'next-turn', message: gone }],
    ['turn/start', { turn: 1 }],
    ['request/header', { provider: 'p', model: 'm' }],
    ['inbox/removed', { ids: [gone.id], cause: 'claimed' }],
    ['inbox/queued', { target: 'next-turn', message: waiting }],
    ['inbox/queued', { target: 'next-step', message: steering }],
  ])
  expect(pendingInbox({ events })).toEqual({ nextStep: [steering], nextTurn: [waiting] })
  expect([lastTurn({ events }), lastHeader({ events })]).toEqual([1, { provider: 'p', model: 'm' }])
})

it('a message that was let in just before the kill is taken out of the inbox: it is not claimed twice', async () => {
  const [first, second] = [user('first'), user('second')]
  const { added, events } = await reloaded([
    ['inbox/queued', { target: 'next-turn', message: first }],
    ['inbox/queued', { target: 'next-turn', message: second }],
    ['turn/start', { turn: 1 }],
    ['step/start', place],
    ['user/message', first],
  ])
  expect(added).toEqual([['inbox/removed', { ids: [first.id], cause: 'claimed' }], ['step/end', place], interrupted])
  expect(pendingInbox({ events }).nextTurn).toEqual([second])
})

it('loaded events are frozen at every depth, and messages keep one identity', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  write(store.create('a'), [['user/message', user('hi')]]).close()
  const session = await store.load('a')
  const [message] = session.deriveMessages()
  expect(session.events[1]?.data).toBe(message)
  for (const part of [session.events[1], message, message?.content, message?.content[0]]) expect(Object.isFrozen(part)).toBe(true)
})

it('numbering goes on, and what comes later stands in the same file', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  write(store.create('a'), [['turn/start', { turn: 1 }]]).close()
  const session = await store.load('a')
  session.append('turn/start', { turn: lastTurn(session) + 1 })
  expect(session.events.map(({ seq, type }) => `${seq} ${type}`)).toEqual(['0 session/start', '1 turn/start', '2 turn/end', '3 turn/start'])
  expect(linesOf(directory, 'a')).toHaveLength(4)
})

it('the closing events are published like any other, and a listener finds the session in the store', async () => {
  const ctx = await hostWith({ directory: tempDir() })
  write(ctx.sessions.create('a'), [['turn/start', { turn: 1 }]]).close()
  const heard: string[] = []
  ctx.on('session/event', (session, event) => void heard.push(`${event.type} ${ctx.sessions.get('a') === session}`))
  await ctx.sessions.load('a')
  expect(heard).toEqual(['turn/end true'])
})

it('a closing event that is refused fails the load, and leaves the session closed and unlocked', async () => {
  const ctx = await hostWith({ directory: tempDir() })
  write(ctx.sessions.create('a'), [['turn/start', { turn: 1 }]]).close()
  const veto = ctx.on('internal/dispatch', (_mode, name) => {
    if (name === 'session/event') throw new Error('not now')
  })
  expect((await rejectionOf(ctx.sessions.load('a'))).message).toBe('not now')
  veto()
  expect(ctx.sessions.list()).toEqual([])
  expect(typesOf(await ctx.sessions.load('a'))).toEqual(['session/start', 'turn/start', 'turn/end'])
})

it('a log larger than any piece it is read in comes back whole, whatever falls on the borders', async () => {
  const directory = tempDir()
  const line = (seq: number, type: string, data: unknown): string => `${JSON.stringify({ seq, time: 1, type, data })}\n`
  const notes = Array.from({ length: 400 }, (_, index) => '🦊é'.repeat((index * 37) % 1_500))
  const long = 'x'.repeat(1_000_000)
  const data = [...notes, long, 'end']
  const content = line(0, 'session/start', { version: 1, id: 'a' }) + data.map((note, index) => line(index + 1, 'test/note', note)).join('')
  writeFileSync(join(directory, 'a.jsonl'), content)
  const session = await (await storeIn(directory)).load('a')
  expect(storyOf(session).map(([, note]) => note)).toEqual(data)
})
