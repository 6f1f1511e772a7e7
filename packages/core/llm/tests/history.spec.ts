import { CallId, createToolResultMessage, createUserMessage, historyOf, type Message, text, withHistory } from '@loopguard/llm'
import { expect, it } from 'vitest'

const say = (words: string): Message => createUserMessage({ content: [text(words)], source: { kind: 'user' } })
const [one, two, three] = [say('one'), say('two'), createToolResultMessage({ callId: CallId('c'), content: [text('3')], isError: false })]

it('is what `messages` says, and stays so while the log grows', () => {
  const log: Message[] = [one, two]
  const request = Object.freeze(withHistory({ provider: 'p' }, log, 2))
  const history = historyOf(request)
  log.push(three)
  expect(history.length).toBe(2)
  expect([...history]).toEqual([one, two])
  expect(request.messages).toEqual([one, two])
  expect(historyOf(request)).toBe(history)
  expect(history, 'no copy').not.toBe(request.messages)
  expect([...historyOf(withHistory({}, log, 3))]).toEqual([one, two, three])
})

it('`at` finds what the array would, and nothing of what was logged later', () => {
  const log: Message[] = [one, two, three]
  const request = withHistory({}, log, 2)
  const history = historyOf(request)
  for (const index of [0, 1, 2, 3, -1, -2, -3, 0.9, -0.5, 1.5, Number.NaN, Infinity, -Infinity]) {
    expect(history.at(index), `at(${index})`).toBe(request.messages.at(index))
  }
})

it('is copied when `messages` is read, once, and the copy is a frozen array', () => {
  const request = withHistory({}, [one, two], 2)
  expect(Array.isArray(request.messages)).toBe(true)
  expect(Object.isFrozen(request.messages)).toBe(true)
  expect(request.messages).toBe(request.messages)
  expect(Object.keys(request)).toEqual(['messages'])
})

it('gives nobody the array of the log, and cannot be changed', () => {
  const log = [one, two]
  const history = historyOf(withHistory({}, log, 2))
  expect(Object.isFrozen(history)).toBe(true)
  const reachable = [history, Object.getPrototypeOf(history), history[Symbol.iterator]()]
  for (const thing of reachable) for (const key of Reflect.ownKeys(thing)) expect(Reflect.get(thing, key, history)).not.toBe(log)
})

it('of a copy of a request is what the copy says: a wrapper may leave messages out', () => {
  const request = withHistory({ provider: 'p' }, [one, two, three], 3)
  expect(historyOf({ ...request, messages: [three] })).toEqual([three])
  expect(historyOf({ ...request })).toBe(request.messages)
})

it('of a request that never had a log is its array', () => {
  const messages = [one]
  expect(historyOf({ messages })).toBe(messages)
})

it('can be walked by several at a time', () => {
  const history = historyOf(withHistory({}, [one, two], 2))
  const pairs = []
  for (const a of history) for (const b of history) pairs.push([a, b])
  expect(pairs).toEqual([
    [one, one],
    [one, two],
    [two, one],
    [two, two],
  ])
})
