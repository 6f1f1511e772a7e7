import { getEventListeners } from 'node:events'
import { deadline, idleWatchdog, timeoutOf, TimeoutReason } from '@loopguard/timeout'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

describe('a deadline', () => {
  it('aborts its signal with its own reason when the time is up', () => {
    using limit = deadline(undefined, 50, 'LATE')
    vi.advanceTimersByTime(49)
    expect(limit.signal.aborted).toBe(false)
    expect(limit.expiry).toBeUndefined()
    vi.advanceTimersByTime(1)
    expect(limit.signal.aborted).toBe(true)
    expect(limit.expiry).toBeInstanceOf(TimeoutReason)
    expect(limit.signal.reason).toBe(limit.expiry)
    expect(limit.expiry).toMatchObject({ name: 'TimeoutReason', code: 'LATE', timeoutMs: 50, message: 'LATE after 50ms' })
  })

  it('shows its expiry to the listeners of its signal', () => {
    using limit = deadline(undefined, 50, 'LATE')
    const seen: unknown[] = []
    limit.signal.addEventListener('abort', () => seen.push(limit.expiry))
    vi.advanceTimersByTime(50)
    expect(seen).toEqual([limit.expiry])
    expect(seen[0]).toBeInstanceOf(TimeoutReason)
  })

  it('runs on the real clock as well', async () => {
    vi.useRealTimers()
    const start = performance.now()
    using limit = deadline(undefined, 20, 'LATE')
    await new Promise((resolve) => limit.signal.addEventListener('abort', resolve))
    expect(performance.now() - start).toBeGreaterThan(18)
    expect(limit.expiry?.code).toBe('LATE')
  })
})

describe('the first cause wins and stays', () => {
  it('cancel first: the signal keeps the upstream reason when the time passes later', () => {
    const upstream = new AbortController()
    using limit = deadline(upstream.signal, 50, 'LATE')
    const reason = new Error('the user left')
    upstream.abort(reason)
    expect(limit.signal.reason).toBe(reason)
    expect(vi.getTimerCount()).toBe(0)
    vi.advanceTimersByTime(100)
    expect(limit.signal.reason).toBe(reason)
    expect(limit.expiry).toBeUndefined()
  })

  it('timer first: a late cancel changes nothing', () => {
    const upstream = new AbortController()
    using limit = deadline(upstream.signal, 50, 'LATE')
    const aborts = vi.fn<() => void>()
    limit.signal.addEventListener('abort', aborts)
    vi.advanceTimersByTime(50)
    upstream.abort(new Error('too late'))
    expect(limit.signal.reason).toBe(limit.expiry)
    expect(timeoutOf(limit.signal, 'LATE')).toBe(limit.expiry)
    expect(aborts).toHaveBeenCalledTimes(1)
  })

  it('already aborted: the signal is aborted at once and no timer is armed', () => {
    const reason = { stop: true }
    using limit = deadline(AbortSignal.abort(reason), 50, 'LATE')
    expect(limit.signal.aborted).toBe(true)
    expect(limit.signal.reason).toBe(reason)
    expect(limit.expiry).toBeUndefined()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('same tick: a cancel from a timer that is due earlier in the tick wins', () => {
    const upstream = new AbortController()
    setTimeout(() => upstream.abort('stop'), 50)
    using limit = deadline(upstream.signal, 50, 'LATE')
    vi.advanceTimersByTime(50)
    expect(limit.signal.reason).toBe('stop')
    expect(limit.expiry).toBeUndefined()
  })

  it('same tick: a cancel from a timer that is due later in the tick loses', () => {
    const upstream = new AbortController()
    using limit = deadline(upstream.signal, 50, 'LATE')
    setTimeout(() => upstream.abort('stop'), 50)
    vi.advanceTimersByTime(50)
    expect(limit.signal.reason).toBe(limit.expiry)
    expect(limit.expiry).toBeInstanceOf(TimeoutReason)
  })

  it('within the abort itself: a timer that runs before our listener is told does not turn the cancel into a timeout', () => {
    const upstream = new AbortController()
    upstream.signal.addEventListener('abort', () => vi.advanceTimersByTime(100))
    using limit = deadline(upstream.signal, 50, 'LATE')
    upstream.abort('stop')
    expect(limit.signal.reason).toBe('stop')
    expect(limit.expiry).toBeUndefined()
  })

  it('a listener that stops the abort event keeps the cancel from us until the time is up, and then it is still a cancel', () => {
    const upstream = new AbortController()
    upstream.signal.addEventListener('abort', (event) => event.stopImmediatePropagation())
    using limit = deadline(upstream.signal, 50, 'LATE')
    upstream.abort('stop')
    expect(limit.signal.aborted).toBe(false)
    vi.advanceTimersByTime(50)
    expect(limit.signal.reason).toBe('stop')
    expect(limit.expiry).toBeUndefined()
  })

  it('an abort event that someone dispatches on a live upstream is no cancel', () => {
    const upstream = new AbortController()
    using limit = deadline(upstream.signal, 50, 'LATE')
    upstream.signal.dispatchEvent(new Event('abort'))
    expect(limit.signal.aborted).toBe(false)
    upstream.abort('stop')
    expect(limit.signal.reason).toBe('stop')
  })

  it.each([['stop'], [0], [null], [false], [Symbol('why')], [{ kind: 'user' }], [new TimeoutReason('OTHER', 9)]])(
    'the reason %o passes through as it is',
    (reason) => {
      const upstream = new AbortController()
      using limit = deadline(upstream.signal, 50, 'LATE')
      upstream.abort(reason)
      expect(limit.signal.reason).toBe(reason)
      using late = deadline(upstream.signal, 50, 'LATE')
      expect(late.signal.reason).toBe(reason)
    },
  )

  it('nothing of it is left by the time the listeners of its signal hear of it', () => {
    const upstream = new AbortController()
    const left = (): number[] => [vi.getTimerCount(), getEventListeners(upstream.signal, 'abort').length]
    const seen: number[][] = []
    using expired = deadline(upstream.signal, 40, 'LATE')
    expired.signal.addEventListener('abort', () => seen.push(left()))
    vi.advanceTimersByTime(40)
    using cancelled = deadline(upstream.signal, 50, 'LATE')
    cancelled.signal.addEventListener('abort', () => seen.push(left()))
    upstream.abort('stop')
    expect(seen).toEqual([
      [0, 0],
      [0, 0],
    ])
  })

  it('an upstream of another class, as a polyfill has, is followed, and let go of', () => {
    class ForeignSignal extends EventTarget {
      aborted = false
      reason: unknown
      abort(reason: unknown): void {
        Object.assign(this, { aborted: true, reason })
        this.dispatchEvent(new Event('abort'))
      }
    }
    const upstream = new ForeignSignal()
    using limit = deadline(upstream as never, 50, 'LATE')
    using watch = idleWatchdog(upstream as never, 50, 'IDLE')
    const left = deadline(upstream as never, 50, 'LATE')
    left[Symbol.dispose]()
    upstream.abort('stop')
    expect([limit, watch, left].map(({ signal }) => signal.reason as unknown)).toEqual(['stop', 'stop', undefined])
    expect(getEventListeners(upstream, 'abort')).toHaveLength(0)
    using late = deadline(upstream as never, 50, 'LATE')
    expect(late.signal.reason).toBe('stop')
  })

  it('an abort without a reason passes the upstream AbortError through', () => {
    const upstream = new AbortController()
    using limit = deadline(upstream.signal, 50, 'LATE')
    upstream.abort(undefined)
    expect(limit.signal.reason).toBe(upstream.signal.reason)
    expect(limit.signal.reason).toMatchObject({ name: 'AbortError' })
  })
})

describe('nested deadlines with one code', () => {
  it('the outer one expires: the inner one reads as cancelled', () => {
    using outer = deadline(undefined, 40, 'LATE')
    using inner = deadline(outer.signal, 60_000, 'LATE')
    vi.advanceTimersByTime(40)
    expect(outer.expiry?.timeoutMs).toBe(40)
    expect(inner.signal.reason).toBe(outer.expiry)
    expect(inner.expiry).toBeUndefined()
    vi.advanceTimersByTime(60_000)
    expect(inner.expiry).toBeUndefined()
  })

  it('the inner one expires: the outer one goes on', () => {
    using outer = deadline(undefined, 60_000, 'LATE')
    using inner = deadline(outer.signal, 40, 'LATE')
    vi.advanceTimersByTime(40)
    expect(inner.expiry?.timeoutMs).toBe(40)
    expect(outer.signal.aborted).toBe(false)
    expect(outer.expiry).toBeUndefined()
  })

  it('both are due in one tick: the outer one, armed first, is the cause', () => {
    using outer = deadline(undefined, 40, 'LATE')
    using inner = deadline(outer.signal, 40, 'LATE')
    vi.advanceTimersByTime(40)
    expect(outer.expiry).toBeInstanceOf(TimeoutReason)
    expect(inner.signal.reason).toBe(outer.expiry)
    expect(inner.expiry).toBeUndefined()
  })
})

describe('no timeout', () => {
  it.each([0, -0, -1, -Infinity])('%s hands the upstream through and arms nothing', (off) => {
    const upstream = new AbortController()
    using limit = deadline(upstream.signal, off, 'LATE')
    expect(limit.signal).toBe(upstream.signal)
    expect(limit.expiry).toBeUndefined()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('without an upstream the signal never aborts, and is nobody else’s', () => {
    using first = deadline(undefined, 0, 'LATE')
    using second = deadline(undefined, 0, 'LATE')
    vi.advanceTimersByTime(1e9)
    expect(first.signal.aborted).toBe(false)
    expect(first.signal).not.toBe(second.signal)
  })
})

describe('a disposed deadline', () => {
  it('follows neither its timer nor its upstream', () => {
    const upstream = new AbortController()
    const limit = deadline(upstream.signal, 50, 'LATE')
    limit[Symbol.dispose]()
    expect(vi.getTimerCount()).toBe(0)
    vi.advanceTimersByTime(100)
    upstream.abort('stop')
    expect(limit.signal.aborted).toBe(false)
    expect(limit.expiry).toBeUndefined()
  })

  it('may be disposed of again and again, also when a successor follows the same upstream', () => {
    const upstream = new AbortController()
    const first = deadline(upstream.signal, 50, 'LATE')
    first[Symbol.dispose]()
    using second = deadline(upstream.signal, 50, 'LATE')
    first[Symbol.dispose]()
    upstream.abort('stop')
    expect(second.signal.reason).toBe('stop')
    expect(first.signal.aborted).toBe(false)
  })

  it('keeps the expiry that it had', () => {
    const limit = deadline(undefined, 50, 'LATE')
    vi.advanceTimersByTime(50)
    limit[Symbol.dispose]()
    expect(limit.signal.reason).toBe(limit.expiry)
    expect(limit.expiry?.code).toBe('LATE')
  })

  it('is not told of an abort that it was disposed of within', () => {
    const upstream = new AbortController()
    using first = deadline(upstream.signal, 50, 'LATE')
    const second = deadline(upstream.signal, 50, 'LATE')
    first.signal.addEventListener('abort', () => second[Symbol.dispose]())
    upstream.abort('stop')
    expect(first.signal.reason).toBe('stop')
    expect(second.signal.aborted).toBe(false)
  })

  it('is aborted at once when it is made within the abort of its upstream', () => {
    const upstream = new AbortController()
    using first = deadline(upstream.signal, 50, 'LATE')
    const made: unknown[] = []
    first.signal.addEventListener('abort', () => made.push(deadline(upstream.signal, 50, 'LATE').signal.reason))
    upstream.abort('stop')
    expect(made).toEqual(['stop'])
    expect(vi.getTimerCount()).toBe(0)
  })
})
