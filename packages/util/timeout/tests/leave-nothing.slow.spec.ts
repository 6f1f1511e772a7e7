import { getEventListeners } from 'node:events'
import { deadline, type Deadline } from '@loopguard/timeout'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { runProgram } from './programs/run.ts'

describe('on its upstream a deadline', () => {
  beforeEach(() => vi.useFakeTimers())
  afterEach(() => vi.useRealTimers())

  it('shares one listener with all others, which goes with the last of them', () => {
    const { signal } = new AbortController()
    const limits = Array.from({ length: 100 }, () => deadline(signal, 50, 'LATE'))
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    const last = limits.pop()
    for (const limit of limits) limit[Symbol.dispose]()
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    last?.[Symbol.dispose]()
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    using again = deadline(signal, 50, 'LATE')
    expect(again.signal.aborted).toBe(false)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  })

  it('leaves nothing when its time was up, without disposal', () => {
    const { signal } = new AbortController()
    const limit = deadline(signal, 50, 'LATE')
    vi.advanceTimersByTime(50)
    expect(limit.expiry).toBeDefined()
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('leaves nothing when the upstream has aborted, without disposal', () => {
    const upstream = new AbortController()
    const limits: Deadline[] = [50, 60, 70].map((timeoutMs) => deadline(upstream.signal, timeoutMs, 'LATE'))
    upstream.abort('stop')
    expect(limits.map((limit) => limit.signal.reason)).toEqual(['stop', 'stop', 'stop'])
    expect(getEventListeners(upstream.signal, 'abort')).toHaveLength(0)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('leaves nothing when there was no timeout', () => {
    const { signal } = new AbortController()
    using limit = deadline(signal, 0, 'LATE')
    expect(limit.signal).toBe(signal)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('keeps to its own signal: other upstreams and the listeners of others stay as they are', () => {
    const upstream = new AbortController()
    const other = new AbortController()
    const foreign = vi.fn<() => void>()
    upstream.signal.addEventListener('abort', foreign)
    using mine = deadline(upstream.signal, 50, 'LATE')
    using theirs = deadline(other.signal, 50, 'LATE')
    mine[Symbol.dispose]()
    expect(getEventListeners(upstream.signal, 'abort')).toHaveLength(1)
    other.abort('stop')
    expect(theirs.signal.reason).toBe('stop')
    upstream.abort('stop')
    expect(foreign).toHaveBeenCalledTimes(1)
  })
})

it('100,000 deadlines one by one, then 10,000 alive at once, under one signal: no heap, no listener, no timer, no warning', async () => {
  const left = await runProgram('leave-nothing')
  expect(left).toMatchObject({
    listenersWhileAlive: 1,
    listenersAfter: 0,
    timersAfter: 0,
    collected: true,
    upstreamCollected: true,
    warnings: [],
  })
  const { heapPerDeadline, heapAfterManyAlive } = left as { heapPerDeadline: number; heapAfterManyAlive: number }
  expect(heapPerDeadline).toBeLessThan(5)
  expect(heapAfterManyAlive).toBeLessThan(1_000_000)
}, 60_000)

it('a running deadline of which only the signal is referenced still fires after a collection', async () => {
  expect(await runProgram('signal-alone')).toEqual({
    deadline: 'TimeoutReason: LATE after 100ms',
    followed: 'TimeoutReason: LATE after 100ms',
    nested: 'TimeoutReason: OUTER after 100ms',
    cancelled: 'stop',
    watchdog: 'TimeoutReason: IDLE after 100ms',
  })
}, 60_000)
