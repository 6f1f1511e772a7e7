import { getEventListeners } from 'node:events'
import { idleWatchdog, timeoutOf, TimeoutReason } from '@loopguard/timeout'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

/** An iterator whose demands are answered by hand. */
class Source implements AsyncIterator<number> {
  readonly demands: { value(value: number): void; fail(error: unknown): void; done(): void }[] = []

  next(): Promise<IteratorResult<number>> {
    return new Promise((resolve, reject) => {
      this.demands.push({
        value: (value) => resolve({ done: false, value }),
        fail: reject,
        done: () => resolve({ done: true, value: undefined }),
      })
    })
  }

  get last() {
    const demand = this.demands.at(-1)
    if (!demand) throw new Error('nothing was demanded')
    return demand
  }
}

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

describe('an idle watchdog', () => {
  it('aborts its one signal when a demand stays unanswered for the whole time', async () => {
    using watch = idleWatchdog(undefined, 50, 'IDLE')
    const { signal } = watch
    const source = new Source()
    const demand = watch.next(source)
    vi.advanceTimersByTime(49)
    expect(signal.aborted).toBe(false)
    vi.advanceTimersByTime(1)
    expect(signal.reason).toBeInstanceOf(TimeoutReason)
    expect(signal.reason).toBe(watch.expiry)
    expect(timeoutOf(signal, 'IDLE')).toMatchObject({ code: 'IDLE', timeoutMs: 50 })
    expect(watch.signal).toBe(signal)
    source.last.fail(signal.reason)
    await expect(demand).rejects.toBe(watch.expiry)
  })

  it('never counts what the consumer does between two demands', async () => {
    using watch = idleWatchdog(undefined, 50, 'IDLE')
    const source = new Source()
    vi.advanceTimersByTime(1_000)
    for (const value of [1, 2, 3]) {
      const demand = watch.next(source)
      vi.advanceTimersByTime(49)
      source.last.value(value)
      await expect(demand).resolves.toEqual({ done: false, value })
      expect(vi.getTimerCount()).toBe(0)
      vi.advanceTimersByTime(1_000)
    }
    expect(watch.signal.aborted).toBe(false)
    expect(watch.expiry).toBeUndefined()
  })

  it('hands on the end of the iterator, its failure, and a plain answer', async () => {
    using watch = idleWatchdog(undefined, 50, 'IDLE')
    const source = new Source()
    const end = watch.next(source)
    source.last.done()
    await expect(end).resolves.toEqual({ done: true, value: undefined })
    const failure = watch.next(source)
    source.last.fail('broken')
    await expect(failure).rejects.toBe('broken')
    expect(vi.getTimerCount()).toBe(0)
    const plain = { next: () => ({ done: false, value: 7 }) } as unknown as AsyncIterator<number>
    await expect(watch.next(plain)).resolves.toEqual({ done: false, value: 7 })
  })

  it('clears its timer when the iterator throws at once', async () => {
    using watch = idleWatchdog(undefined, 50, 'IDLE')
    const broken = {
      next(): never {
        throw new Error('no stream')
      },
    }
    await expect(watch.next(broken)).rejects.toThrow('no stream')
    expect(vi.getTimerCount()).toBe(0)
    await expect(watch.next({} as never)).rejects.toThrow(TypeError)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('notifies and does not race: a late answer is still the answer', async () => {
    using watch = idleWatchdog(undefined, 50, 'IDLE')
    const source = new Source()
    const demand = watch.next(source)
    vi.advanceTimersByTime(50)
    source.last.value(1)
    await expect(demand).resolves.toEqual({ done: false, value: 1 })
    expect(watch.expiry?.code).toBe('IDLE')
  })

  it('after its signal has aborted, rejects with the reason and does not call the iterator', async () => {
    const upstream = new AbortController()
    using watch = idleWatchdog(upstream.signal, 50, 'IDLE')
    const source = new Source()
    upstream.abort('stop')
    await expect(watch.next(source)).rejects.toBe('stop')
    expect(source.demands).toEqual([])

    using expired = idleWatchdog(undefined, 50, 'IDLE')
    const demand = expired.next(source)
    vi.advanceTimersByTime(50)
    await expect(expired.next(source)).rejects.toBe(expired.expiry)
    source.last.done()
    await demand
    await expect(expired.next(source)).rejects.toBe(expired.expiry)
    expired[Symbol.dispose]()
    await expect(expired.next(source)).rejects.toBe(expired.expiry)
    expect(source.demands).toHaveLength(1)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('refuses a second demand while one is outstanding, and watches the first on', async () => {
    using watch = idleWatchdog(undefined, 50, 'IDLE')
    const source = new Source()
    const first = watch.next(source)
    vi.advanceTimersByTime(30)
    await expect(watch.next(source)).rejects.toMatchObject({
      code: 'WATCHDOG_BUSY',
      message: 'idleWatchdog: a demand is already outstanding: await it before the next',
    })
    expect(source.demands).toHaveLength(1)
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(20)
    expect(watch.expiry?.code).toBe('IDLE')
    source.last.done()
    await first
  })
})

describe('pulse', () => {
  it('gives an outstanding demand its whole time again', async () => {
    using watch = idleWatchdog(undefined, 50, 'IDLE')
    const source = new Source()
    const demand = watch.next(source)
    for (let i = 0; i < 5; i++) {
      vi.advanceTimersByTime(49)
      watch.pulse()
      expect(vi.getTimerCount()).toBe(1)
    }
    vi.advanceTimersByTime(49)
    expect(watch.signal.aborted).toBe(false)
    vi.advanceTimersByTime(1)
    expect(watch.signal.aborted).toBe(true)
    source.last.done()
    await demand
  })

  it('arms nothing before a demand, after one, after the abort, and after disposal', async () => {
    const upstream = new AbortController()
    using watch = idleWatchdog(upstream.signal, 50, 'IDLE')
    const source = new Source()
    watch.pulse()
    expect(vi.getTimerCount()).toBe(0)
    const answered = watch.next(source)
    source.last.value(1)
    await answered
    watch.pulse()
    expect(vi.getTimerCount()).toBe(0)
    const cancelled = watch.next(source)
    upstream.abort('stop')
    watch.pulse()
    expect(vi.getTimerCount()).toBe(0)
    source.last.done()
    await cancelled

    const disposed = idleWatchdog(undefined, 50, 'IDLE')
    const pending = disposed.next(source)
    disposed[Symbol.dispose]()
    disposed.pulse()
    expect(vi.getTimerCount()).toBe(0)
    source.last.done()
    await pending
  })
})

describe('the upstream of a watchdog', () => {
  it('aborts it with its reason, with or without an outstanding demand, and clears the timer', async () => {
    const upstream = new AbortController()
    using waiting = idleWatchdog(upstream.signal, 50, 'IDLE')
    using resting = idleWatchdog(upstream.signal, 50, 'IDLE')
    const source = new Source()
    const demand = waiting.next(source)
    upstream.abort(0)
    expect(waiting.signal.reason).toBe(0)
    expect(resting.signal.reason).toBe(0)
    expect(vi.getTimerCount()).toBe(0)
    vi.advanceTimersByTime(100)
    expect(waiting.expiry).toBeUndefined()
    source.last.done()
    await demand
  })

  it('may have aborted before', async () => {
    const reason = new Error('gone')
    using watch = idleWatchdog(AbortSignal.abort(reason), 50, 'IDLE')
    expect(watch.signal.aborted).toBe(true)
    expect(watch.signal.reason).toBe(reason)
    await expect(watch.next(new Source())).rejects.toBe(reason)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('keeps nothing of it after disposal, after the abort, and after the timeout', async () => {
    const upstream = new AbortController()
    const { signal } = upstream
    const source = new Source()
    const disposed = idleWatchdog(signal, 50, 'IDLE')
    using expired = idleWatchdog(signal, 50, 'IDLE')
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    disposed[Symbol.dispose]()
    disposed[Symbol.dispose]()
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    const demand = expired.next(source)
    vi.advanceTimersByTime(50)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    source.last.done()
    await demand
    using cancelled = idleWatchdog(signal, 50, 'IDLE')
    upstream.abort('stop')
    expect(cancelled.signal.reason).toBe('stop')
    expect(disposed.signal.aborted).toBe(false)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})

describe('a disposed watchdog', () => {
  it('rejects a later demand and does not call the iterator', async () => {
    const watch = idleWatchdog(undefined, 50, 'IDLE')
    watch[Symbol.dispose]()
    const source = new Source()
    await expect(watch.next(source)).rejects.toMatchObject({
      code: 'WATCHDOG_DISPOSED',
      message: 'idleWatchdog: the watchdog is disposed: make one per stream',
    })
    expect(source.demands).toEqual([])
  })

  it('lets an outstanding demand settle as the iterator does', async () => {
    const watch = idleWatchdog(undefined, 50, 'IDLE')
    const source = new Source()
    const demand = watch.next(source)
    watch[Symbol.dispose]()
    expect(vi.getTimerCount()).toBe(0)
    vi.advanceTimersByTime(100)
    expect(watch.signal.aborted).toBe(false)
    source.last.value(1)
    await expect(demand).resolves.toEqual({ done: false, value: 1 })
  })
})
