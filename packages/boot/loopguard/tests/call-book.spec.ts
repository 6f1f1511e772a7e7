import { expect, it } from 'vitest'
import { CallBook } from '../src/show/call-book.ts'
import type { LogEvent, LogMessage } from '../src/show/log-events.ts'

const place = { turn: 1, step: 1 }
const call = (callId: string): LogEvent => ({ type: 'tool/call', data: { ...place, callId, name: 'look', arguments: '{}' } })
const result = (callId: string, contextIds?: string[]): LogEvent => ({
  type: 'tool/result',
  data: {
    ...place,
    message: { id: 'r', content: [{ type: 'tool-result', toolCallId: callId }], source: { kind: 'tool' } },
    ...(contextIds !== undefined && { contextIds }),
  },
})
const from = (id: string, plugin: string): LogMessage => ({ id, content: [], source: { kind: 'plugin', plugin } })
const heard = (data: LogMessage): LogEvent => ({ type: 'user/message', data })

function bookOf(...events: LogEvent[]): CallBook {
  const book = new CallBook()
  for (const event of [{ type: 'turn/start', data: { turn: 1 } } as LogEvent, ...events]) book.note('a', event)
  return book
}

it('a log alone says which call a reminder followed, and which message was a reminder', () => {
  const [reminder, notice] = [from('m1', 'repeat-tool-reminder'), from('m2', 'jobs')]
  const book = bookOf(call('c1'), call('c2'), result('c1'), result('c2', ['m1', 'm2']), heard(reminder), heard(notice))
  expect(book.causeOf('m1')?.callId).toBe('c2')
  expect(book.reminded.map(({ guard, call: { callId } }) => [guard, callId])).toEqual([['repeat-tool-reminder', 'c2']])
})

it('a log without the ids leaves it open', () => {
  const book = bookOf(call('c1'), result('c1'), heard(from('m1', 'repeat-tool-reminder')))
  expect([book.causeOf('m1'), book.reminded, book.activities.running()]).toEqual([undefined, [], ['agent "a", turn 1, step 0']])
})
