import { getEventListeners } from 'node:events'
import { iterateWithin, ToolTimeoutError, withTimeout } from '@loopguard/timeout'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})

// Whatever the outcome, the timer is gone.
afterEach(() => {
  const timers = vi.getTimerCount()
  vi.useRealTimers()
  if (timers !== 0) throw new Error(`${timers} timers are left`)
})

type Body = (signal: AbortSignal) => unknown
type Run = (body: Body, timeoutMs: number, upstream?: AbortSignal) => Promise<unknown>

/** A body that yields nothing, or one value before it ends as the other kind of body does. */
async function drained(body: Body, yields: number, timeoutMs: number, upstream?: AbortSignal): Promise<unknown> {
  let last: unknown
  const yielding = async function* (signal: AbortSignal): AsyncGenerator<unknown, void, undefined> {
    if (yields > 0) yield 'first'
    yield await body(signal)
  }
  for await (const value of iterateWithin(yielding, timeoutMs, upstream)) last = value
  return last
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
const timedOut = (timeoutMs: number) => ({
  name: 'ToolTimeoutError',
  code: 'TOOL_TIMEOUT',
  timeoutMs,
  message: `tool call timed out after ${timeoutMs}ms`,
})

describe.each<[string, Run]>([
  ['withTimeout', withTimeout],
  ['iterateWithin', (body, timeoutMs, upstream) => drained(body, 0, timeoutMs, upstream)],
  ['iterateWithin, behind a first value', (body, timeoutMs, upstream) => drained(body, 1, timeoutMs, upstream)],
])('%s', (_title, run) => {
  /** Runs a body that waits for its signal and then does `afterwards`; `meanwhile` happens once it waits. */
  async function hang(afterwards: Body, meanwhile: (user: AbortController) => unknown): Promise<unknown> {
    const user = new AbortController()
    let begun: (signal: AbortSignal) => void = () => {}
    const started = new Promise<AbortSignal>((resolve) => (begun = resolve))
    const outcome = run(
      async (signal) => {
        begun(signal)
        await aborted(signal)
        return afterwards(signal)
      },
      50,
      user.signal,
    ).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    await started
    expect(getEventListeners(user.signal, 'abort')).toHaveLength(1)
    await meanwhile(user)
    const settled = await outcome
    expect(getEventListeners(user.signal, 'abort')).toHaveLength(0)
    return settled
  }
  const expire = () => vi.advanceTimersByTime(50)

  describe('within the budget keeps the outcome', () => {
    it('a value, at once or later', async () => {
      expect(await run(() => 'done', 50)).toBe('done')
      expect(await run(async () => 'done', 50)).toBe('done')
    })

    it.each([
      [
        'a synchronous throw',
        () => {
          throw new Error('broken')
        },
      ],
      ['a rejection', () => Promise.reject(new Error('broken'))],
    ])('%s', async (_how, body: Body) => {
      await expect(run(body, 50)).rejects.toThrow('broken')
    })

    it('an error of its own with the code TOOL_TIMEOUT, a ToolTimeoutError too', async () => {
      const own = new ToolTimeoutError(7)
      await expect(run(() => Promise.reject(own), 50)).rejects.toBe(own)
    })
  })

  describe('beyond the budget becomes a ToolTimeoutError, once the body has settled', () => {
    it('a body that rejects with the reason of its signal, which is the cause', async () => {
      const settled = await hang((signal) => Promise.reject(signal.reason as Error), expire)
      expect(settled).toEqual({ error: expect.objectContaining({ ...timedOut(50) }) as unknown })
      expect((settled as { error: Error }).error).toBeInstanceOf(ToolTimeoutError)
      expect((settled as { error: Error }).error.cause).toMatchObject({ name: 'TimeoutReason', code: 'TOOL_TIMEOUT', timeoutMs: 50 })
    })

    it('a body that fails in a way of its own', async () => {
      const own = Object.assign(new Error('socket closed'), { code: 'ECONNRESET' })
      const settled = await hang(() => Promise.reject(own), expire)
      expect(settled).toEqual({ error: expect.objectContaining(timedOut(50)) as unknown })
      expect((settled as { error: Error }).error.cause).toBe(own)
    })

    it('a body that succeeds late', async () => {
      expect(await hang(() => 'late, but done', expire)).toEqual({ error: expect.objectContaining(timedOut(50)) as unknown })
    })

    it('a body that needs its time to clean up: it is waited for', async () => {
      let release = () => {}
      const cleaningUp = new Promise<string>((resolve) => (release = () => resolve('clean')))
      let settled = false
      const outcome = hang(() => cleaningUp, expire).finally(() => (settled = true))
      await new Promise((resolve) => setImmediate(resolve))
      expect(settled).toBe(false)
      release()
      expect(await outcome).toEqual({ error: expect.objectContaining(timedOut(50)) as unknown })
    })

    it('though the upstream aborts during the clean-up', async () => {
      const outcome = hang(
        (signal) => {
          expect(signal.reason).toMatchObject({ code: 'TOOL_TIMEOUT' })
          return 'clean'
        },
        (user) => {
          expire()
          user.abort('too late')
        },
      )
      expect(await outcome).toEqual({ error: expect.objectContaining(timedOut(50)) as unknown })
    })
  })

  describe('a cancel is a cancel', () => {
    it.each(['stop', 0, null, { kind: 'user' }])('with the reason %o, which reaches the body', async (reason) => {
      const outcome = await hang(
        (signal) => Promise.reject(signal.reason as Error),
        (user) => user.abort(reason),
      )
      expect(outcome).toEqual({ error: reason })
    })

    it('also when the body settles long after the budget', async () => {
      const late = () => {
        vi.advanceTimersByTime(1_000)
        return 'late'
      }
      expect(await hang(late, (user) => user.abort('stop'))).toEqual({ value: 'late' })
    })

    it('before the call: no timer is armed, no body runs, and the reason is what it rejects with', async () => {
      const body = vi.fn<Body>(() => 'ran')
      await expect(run(body, 50, AbortSignal.abort('stop'))).rejects.toBe('stop')
      await expect(run(body, 50, AbortSignal.abort(undefined))).rejects.toMatchObject({ name: 'AbortError' })
      expect(body).not.toHaveBeenCalled()
    })
  })

  it('the timeout of another deadline inside is not its own', async () => {
    const outcome = hang(
      () => withTimeout(() => new Promise((resolve) => setTimeout(resolve, 20)), 10),
      async (user) => {
        user.abort('stop')
        await new Promise((resolve) => setImmediate(resolve))
        await vi.advanceTimersByTimeAsync(20)
      },
    )
    expect(await outcome).toEqual({ error: expect.objectContaining(timedOut(10)) as unknown })
  })

  it.each([
    [0, 'RangeError', 'TIMEOUT_OUT_OF_RANGE', 'timeoutMs must be a positive finite number no greater than 2147483647, got 0'],
    [-1, 'RangeError', 'TIMEOUT_OUT_OF_RANGE', 'got -1'],
    [NaN, 'RangeError', 'TIMEOUT_OUT_OF_RANGE', 'got NaN'],
    [2_147_483_648, 'RangeError', 'TIMEOUT_OUT_OF_RANGE', 'got 2147483648'],
  ])('a budget of %s is refused, and no body runs', async (timeoutMs, name, code, message) => {
    const body = vi.fn<Body>(() => 'ran')
    await expect(run(body, timeoutMs)).rejects.toMatchObject({ name, code, message: expect.stringContaining(message) as string })
    expect(body).not.toHaveBeenCalled()
  })

  it('an upstream that is no signal is refused', async () => {
    await expect(run(() => 'ran', 50, {} as AbortSignal)).rejects.toMatchObject({ name: 'TypeError', code: 'TIMEOUT_BAD_ARGUMENT' })
  })
})

describe('a body that yields', () => {
  const user = () => new AbortController().signal

  it('hands on what it yields, one demand at a time', async () => {
    const log: string[] = []
    const body = async function* () {
      for (const value of ['a', 'b']) {
        log.push(`yields ${value}`)
        yield value
      }
      log.push('ends')
    }
    for await (const value of iterateWithin(body, 50)) log.push(`gets ${value}`)
    expect(log).toEqual(['yields a', 'gets a', 'yields b', 'gets b', 'ends'])
  })

  it('is not called before it is asked, and nothing is armed', () => {
    const body = vi.fn<() => AsyncIterable<string>>()
    const signal = user()
    iterateWithin(body, 50, signal)
    expect(body).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('refuses what cannot be meant at once', () => {
    expect(() => iterateWithin(async function* () {}, 0)).toThrow('iterateWithin: timeoutMs must be a positive finite number')
  })

  it('a consumer that stops early closes the body, is told of no timeout, and leaves nothing behind', async () => {
    const signal = user()
    let closed = false
    const body = async function* () {
      try {
        for (;;) yield 'more'
      } finally {
        await Promise.resolve()
        closed = true
      }
    }
    for await (const value of iterateWithin(body, 50, signal)) {
      expect(value).toBe('more')
      expect(vi.getTimerCount()).toBe(1)
      break
    }
    expect(closed).toBe(true)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('one budget for all of it, pauses of the consumer included: what it yields late is dropped, and it is closed', async () => {
    const log: string[] = []
    const body = async function* (signal: AbortSignal) {
      try {
        for (const value of ['a', 'b', 'c']) {
          log.push(`yields ${value}`)
          yield value
        }
      } finally {
        log.push(`closed, ${signal.aborted ? 'aborted' : 'running'}`)
      }
    }
    const consume = async () => {
      for await (const value of iterateWithin(body, 50)) {
        log.push(`gets ${value}`)
        vi.advanceTimersByTime(30)
      }
    }
    await expect(consume()).rejects.toMatchObject(timedOut(50))
    expect(log).toEqual(['yields a', 'gets a', 'yields b', 'gets b', 'closed, aborted'])
  })

  it('a body that goes on yielding after its time is not handed on', async () => {
    const body = async function* (signal: AbortSignal) {
      yield 'in time'
      await aborted(signal)
      yield 'late'
    }
    const values: string[] = []
    const consume = async () => {
      for await (const value of iterateWithin(body, 50)) {
        values.push(value)
        setImmediate(() => vi.advanceTimersByTime(50))
      }
    }
    await expect(consume()).rejects.toMatchObject(timedOut(50))
    expect(values).toEqual(['in time'])
  })

  it('a body that fails while it is closed after its time: still a timeout, with that as its cause', async () => {
    const broken = new Error('cannot close')
    const body = async function* (signal: AbortSignal) {
      try {
        await aborted(signal)
        yield 'late'
      } finally {
        // eslint-disable-next-line no-unsafe-finally
        throw broken
      }
    }
    const [demand] = [iterateWithin(body, 50)[Symbol.asyncIterator]().next()]
    setImmediate(() => vi.advanceTimersByTime(50))
    const failure: unknown = await demand.catch((error: unknown) => error)
    expect(failure).toMatchObject(timedOut(50))
    expect((failure as Error).cause).toBe(broken)
  })
})

it('10,000 calls under one signal share a listener, and leave none', async () => {
  const { signal } = new AbortController()
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const calls = Array.from({ length: 10_000 }, () => withTimeout(() => released, 50, signal))
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  release()
  await Promise.all(calls)
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})
