import { getEventListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { deadline, TimeoutReason } from '@loopguard/timeout'
import { startModelServer, streams } from '@loopguard/testkit/model-server'
import { describe, expect, it, vi } from 'vitest'
import { told } from './samples/budget.ts'
import { budgetOf, outcomeOf } from './samples/classified.ts'
import { events } from './samples/watched-stream.ts'
import { within } from './samples/within.ts'

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })

it('within: a value, a timeout, a failure and a cancel stay apart', async () => {
  expect(await within(1_000, async () => 'value')).toBe('value')
  expect(await within(10, untilAborted)).toBe('too slow')
  await expect(within(1_000, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  const user = new AbortController()
  const cancelled = within(1_000, untilAborted, user.signal)
  user.abort(new Error('the user left'))
  await expect(cancelled).rejects.toThrow('the user left')
})

describe('events', () => {
  const heard = async (stream: AsyncIterable<string>): Promise<string[]> => {
    const all: string[] = []
    for await (const event of stream) all.push(event)
    return all
  }

  it('are those that a model sends, over real HTTP, byte by byte and with comments between', async () => {
    await using server = await startModelServer([streams(['data: one\n\n', ': ping\n\n', 'data: two\n\n'], { bytewise: true })])
    expect(await heard(events(`${server.baseURL}/chat/completions`, '{}'))).toEqual(['one', 'two'])
  })

  it('may take longer than the time of silence, as long as bytes come', async () => {
    const pings = Array.from({ length: 6 }, () => [() => sleep(250), ': ping\n\n']).flat()
    await using server = await startModelServer([streams(['data: one\n\n', ...pings, 'data: two\n\n'])])
    expect(await heard(events(`${server.baseURL}/chat/completions`, '{}', undefined, 1_200))).toEqual(['one', 'two'])
  })

  it.each([
    ['before the headers', 'hang' as const],
    ['in the middle', streams(['data: one\n\n'], { end: 'open' })],
  ])('that stop coming %s are a timeout, and the connection is shut', async (_place, entry) => {
    await using server = await startModelServer([entry])
    await expect(heard(events(`${server.baseURL}/chat/completions`, '{}', undefined, 50))).rejects.toMatchObject({
      code: 'STREAM_IDLE',
      timeoutMs: 50,
    })
    expect(await server.requests[0]?.closed).toBe(false)
  })

  it('end with a cancel, and leave no listener, when the user leaves', async () => {
    await using server = await startModelServer([streams(['data: one\n\n'], { end: 'open' })])
    const user = new AbortController()
    const reason = new Error('the user left')
    const stream = events(`${server.baseURL}/chat/completions`, '{}', user.signal)
    expect((await stream.next()).value).toBe('one')
    const stalled = stream.next()
    user.abort(reason)
    await expect(stalled).rejects.toBe(reason)
    expect(getEventListeners(user.signal, 'abort')).toEqual([])
  })
})

it('budgetOf and outcomeOf: clamp and classify', () => {
  expect(budgetOf({})).toBe(10_000)
  expect(budgetOf({ wait_ms: 90_000 })).toBe(60_000)
  expect(() => budgetOf({ wait_ms: 0 })).toThrow('wait_ms must be a positive finite number, got 0')
  expect(outcomeOf(undefined, AbortSignal.abort(new TimeoutReason('READ_TIMEOUT', 50)))).toBe('timed out after 50ms')
  expect(outcomeOf(undefined, AbortSignal.abort(new TimeoutReason('OTHER', 50)))).toBe('cancelled')
  using limit = deadline(undefined, 1_000, 'READ_TIMEOUT')
  expect(outcomeOf('broken', limit.signal)).toBe('failed: broken')
})

it('told: a value, a timeout and a cancel of the user', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    expect(await told(async () => 'done')).toBe('done')
    const late = told(untilAborted)
    vi.advanceTimersByTime(2_000)
    expect(await late).toBe('Error: tool call timed out after 2000ms')
    const user = new AbortController()
    const cancelled = told(untilAborted, user.signal)
    user.abort(new Error('the user left'))
    await expect(cancelled).rejects.toThrow('the user left')
  } finally {
    vi.useRealTimers()
  }
})
