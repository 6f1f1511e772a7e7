import { createUserMessage, text } from '@loopguard/llm'
import { lastHeader, lastTurn, pendingInbox, type SessionEvent } from '@loopguard/session'
import type { Log } from '../src/views.ts'
import { expect, it } from 'vitest'
import { assistant, resultOf, storeIn, user, write } from './support.ts'

it('derives user messages, assistant messages with content and tool results, in log order', async () => {
  const session = (await storeIn()).create('a')
  const [hello, saysNothing, calls, result, reminder, cut] = [
    user('hello'),
    assistant(''),
    assistant('', ['c1']),
    resultOf('c1', 'done'),
    createUserMessage({ content: [text('again?')], source: { kind: 'plugin', plugin: 'p' } }),
    assistant('so far'),
  ]
  write(session, [
    ['inbox/queued', { target: 'next-turn', message: hello }],
    ['turn/start', { turn: 1 }],
    ['step/start', { turn: 1, step: 1 }],
    ['user/message', hello],
    ['assistant/message', { turn: 1, step: 1, message: saysNothing }],
    ['assistant/message', { turn: 1, step: 1, message: calls }],
    ['tool/call', { turn: 1, step: 1, callId: 'c1', name: 'read', arguments: '{}' }],
    ['tool/result', { turn: 1, step: 1, message: result }],
    ['user/message', reminder],
    ['assistant/message', { turn: 1, step: 1, message: cut, interrupted: true }],
    ['test/note', 'no message'],
  ])
  expect(session.deriveMessages()).toEqual([hello, calls, result, reminder, cut])
})

it('hands out a fresh array of the very messages of the log', async () => {
  const session = (await storeIn()).create('a')
  const [first, second] = [user('one'), user('two')]
  session.append('user/message', first)
  const derived = session.deriveMessages()
  session.append('user/message', second)
  derived.length = 0
  expect(session.deriveMessages()).toEqual([first, second])
  expect(session.deriveMessages()[0]).toBe(first)
})

it('knows the last turn and the last header', async () => {
  const session = (await storeIn()).create('a')
  expect([lastTurn(session), lastHeader(session)]).toEqual([0, undefined])
  write(session, [
    ['turn/start', { turn: 1 }],
    ['request/header', { provider: 'p', model: 'm' }],
    ['turn/end', { turn: 1, reason: { kind: 'completed' } }],
    ['turn/start', { turn: 2 }],
    ['request/header', { provider: 'p', model: 'n', maxTokens: 5 }],
  ])
  expect([lastTurn(session), lastHeader(session)]).toEqual([2, { provider: 'p', model: 'n', maxTokens: 5 }])
})

it('the inbox holds what was queued, in order, without what was claimed or discarded', async () => {
  const session = (await storeIn()).create('a')
  const [a, b, c, d] = [user('a'), user('b'), user('c'), user('d')]
  write(session, [
    ['inbox/queued', { target: 'next-turn', message: a }],
    ['inbox/queued', { target: 'next-step', message: b }],
    ['inbox/queued', { target: 'next-step', message: c }],
    ['inbox/queued', { target: 'next-turn', message: d }],
    ['inbox/removed', { ids: [b.id], cause: 'claimed' }],
    ['inbox/removed', { ids: [d.id], cause: 'discarded' }],
  ])
  expect(pendingInbox(session)).toEqual({ nextStep: [c], nextTurn: [a] })
  session.append('inbox/queued', { target: 'next-step', message: b })
  session.append('inbox/queued', { target: 'next-turn', message: b })
  expect(pendingInbox(session)).toEqual({ nextStep: [c, b], nextTurn: [a] })
})

it('the inbox does not hold what stands in the conversation already', async () => {
  const session = (await storeIn()).create('a')
  const [a, b] = [user('a'), user('b')]
  write(session, [
    ['inbox/queued', { target: 'next-turn', message: a }],
    ['inbox/queued', { target: 'next-turn', message: b }],
    ['user/message', a],
  ])
  expect(pendingInbox(session)).toEqual({ nextStep: [], nextTurn: [b] })
})

it('asking again reads only what is new, however long the log is', () => {
  let reads = 0
  const log: SessionEvent[] = Array.from({ length: 10_000 }, (_, seq) => ({ seq, time: 0, type: 'user/message', data: user('x') }))
  const counted = new Proxy(log, {
    get: (target, key, receiver) => {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads++
      return Reflect.get(target, key, receiver) as unknown
    },
  })
  const views: Log = { events: counted }
  const readsOf = (act: () => unknown): number => {
    reads = 0
    act()
    return reads
  }
  expect([lastTurn, lastHeader, pendingInbox].map((view) => readsOf(() => view(views)))).toEqual([10_000, 10_000, 10_000])
  log.push({ seq: 10_000, time: 0, type: 'turn/start', data: { turn: 7 } })
  expect([lastTurn, lastHeader, pendingInbox].map((view) => readsOf(() => view(views)))).toEqual([1, 1, 1])
  expect(lastTurn(views)).toBe(7)
})
