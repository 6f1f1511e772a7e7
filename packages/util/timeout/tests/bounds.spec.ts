import { clampTimeout, deadline, idleWatchdog, MAX_TIMER_DELAY_MS } from '@loopguard/timeout'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

const above = MAX_TIMER_DELAY_MS + 1
const notNumbers: [unknown, string][] = [
  ['5', '"5"'],
  [5n, '[object BigInt]'],
  [null, '[object Null]'],
  [{ ms: 5 }, '[object Object]'],
  [Symbol('ms'), '[object Symbol]'],
]

function thrownBy(body: () => unknown): { name: string; code?: string; message: string } {
  try {
    body()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('nothing was thrown')
}

describe('clampTimeout', () => {
  it.each([
    [undefined, 100, 1_000, 100],
    [undefined, 5_000, 1_000, 1_000],
    [50, 100, 1_000, 50],
    [1_000, 100, 1_000, 1_000],
    [1_001, 100, 1_000, 1_000],
    [0.5, 100, 1_000, 0.5],
    [1e300, 100, 1_000, 1_000],
    [above, 100, MAX_TIMER_DELAY_MS, MAX_TIMER_DELAY_MS],
    [undefined, above, MAX_TIMER_DELAY_MS, MAX_TIMER_DELAY_MS],
  ])('gives a caller who asks for %s, with default %s and maximum %s, %s', (requested, def, max, expected) => {
    expect(clampTimeout(requested, def, max)).toBe(expected)
  })

  it.each([0, -0, -1, NaN, Infinity, -Infinity])('refuses %s in each of its three places and names the field', (bad) => {
    const refusal = { name: 'RangeError', code: 'TIMEOUT_OUT_OF_RANGE' }
    const positive = `must be a positive finite number, got ${bad}`
    expect(thrownBy(() => clampTimeout(bad, 100, 1_000))).toMatchObject({ ...refusal, message: `timeoutMs ${positive}` })
    expect(thrownBy(() => clampTimeout(bad, 100, 1_000, 'wait_ms'))).toMatchObject({ ...refusal, message: `wait_ms ${positive}` })
    expect(thrownBy(() => clampTimeout(50, bad, 1_000, 'wait_ms'))).toMatchObject({ ...refusal, message: `def ${positive}` })
    expect(thrownBy(() => clampTimeout(50, 100, bad, 'wait_ms'))).toMatchObject({
      ...refusal,
      message: `max must be a positive finite number no greater than 2147483647, got ${bad}`,
    })
  })

  it('refuses a maximum that no timer takes, also when the request is small', () => {
    expect(clampTimeout(50, 100, MAX_TIMER_DELAY_MS)).toBe(50)
    expect(() => clampTimeout(50, 100, above)).toThrow('max must be a positive finite number no greater than 2147483647, got 2147483648')
  })

  it.each(notNumbers)('refuses %o, which is no number', (bad, shown) => {
    expect(() => clampTimeout(bad as number, 100, 1_000)).toThrow(`timeoutMs must be a positive finite number, got ${shown}`)
  })
})

describe('the doors of deadline and idleWatchdog', () => {
  beforeEach(() => vi.useFakeTimers())
  afterEach(() => vi.useRealTimers())

  it.each([NaN, Infinity, above, MAX_TIMER_DELAY_MS + 0.5])('refuse %s, name it and arm nothing', (bad) => {
    const { signal } = new AbortController()
    const listen = vi.spyOn(signal, 'addEventListener')
    const expected = `timeoutMs must be a positive finite number no greater than 2147483647`
    expect(thrownBy(() => deadline(signal, bad, 'LATE'))).toMatchObject({
      name: 'RangeError',
      code: 'TIMEOUT_OUT_OF_RANGE',
      message: `deadline: ${expected} (0 or less is none), got ${bad}`,
    })
    expect(thrownBy(() => idleWatchdog(signal, bad, 'IDLE'))).toMatchObject({
      name: 'RangeError',
      code: 'TIMEOUT_OUT_OF_RANGE',
      message: `idleWatchdog: ${expected}, got ${bad}`,
    })
    expect(vi.getTimerCount()).toBe(0)
    expect(listen).not.toHaveBeenCalled()
  })

  it.each(notNumbers)('refuse %o as a time', (bad, shown) => {
    expect(() => deadline(undefined, bad as number, 'LATE')).toThrow(`got ${shown}`)
    expect(() => idleWatchdog(undefined, bad as number, 'IDLE')).toThrow(`got ${shown}`)
  })

  it.each([0, -0, -1, -Infinity])('a watchdog refuses %s, which is no timeout at all', (bad) => {
    expect(() => idleWatchdog(undefined, bad, 'IDLE')).toThrow(RangeError)
  })

  it.each([
    [null, '[object Null]'],
    ['signal', '"signal"'],
    [{ aborted: false }, '[object Object]'],
    [new EventTarget(), '[object EventTarget]'],
    [new AbortController(), '[object AbortController]'],
  ])('refuse %o as an upstream and arm nothing', (bad, shown) => {
    const expected = { name: 'TypeError', code: 'TIMEOUT_BAD_ARGUMENT' }
    const message = `upstream must be an AbortSignal or undefined, got ${shown}`
    expect(thrownBy(() => deadline(bad as never, 50, 'LATE'))).toMatchObject({ ...expected, message: `deadline: ${message}` })
    expect(thrownBy(() => deadline(bad as never, 0, 'LATE'))).toMatchObject({ ...expected, message: `deadline: ${message}` })
    expect(thrownBy(() => idleWatchdog(bad as never, 50, 'IDLE'))).toMatchObject({ ...expected, message: `idleWatchdog: ${message}` })
    expect(vi.getTimerCount()).toBe(0)
  })

  it('refuse a code that is no text, and arm nothing', () => {
    const { signal } = new AbortController()
    const listen = vi.spyOn(signal, 'addEventListener')
    const expected = { name: 'TypeError', code: 'TIMEOUT_BAD_ARGUMENT' }
    expect(thrownBy(() => deadline(signal, 50, 7 as never))).toMatchObject({
      ...expected,
      message: 'deadline: code must be a string, got 7',
    })
    expect(thrownBy(() => idleWatchdog(signal, 50, undefined as never))).toMatchObject({
      ...expected,
      message: 'idleWatchdog: code must be a string, got [object Undefined]',
    })
    expect(vi.getTimerCount()).toBe(0)
    expect(listen).not.toHaveBeenCalled()
  })

  it('take the longest time that a timer takes, and it does not fire early', () => {
    using limit = deadline(undefined, MAX_TIMER_DELAY_MS, 'LATE')
    vi.advanceTimersByTime(MAX_TIMER_DELAY_MS - 1)
    expect(limit.signal.aborted).toBe(false)
    vi.advanceTimersByTime(1)
    expect(limit.expiry?.timeoutMs).toBe(MAX_TIMER_DELAY_MS)
  })
})
