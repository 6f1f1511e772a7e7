import { inspect } from 'node:util'
import { deadline, timeoutOf, TimeoutReason } from '@loopguard/timeout'
import { describe, expect, it } from 'vitest'

describe('timeoutOf', () => {
  const reason = new TimeoutReason('LATE', 50)

  it('finds the reason in a signal, and in anything else that carries one', () => {
    expect(timeoutOf(AbortSignal.abort(reason))).toBe(reason)
    expect(timeoutOf({ reason })).toBe(reason)
    expect(timeoutOf(new Proxy({ reason }, {}), 'LATE')).toBe(reason)
  })

  it('with a code, finds exactly this code', () => {
    expect(timeoutOf({ reason }, 'LATE')).toBe(reason)
    expect(timeoutOf({ reason }, 'late')).toBeUndefined()
    expect(timeoutOf({ reason }, '')).toBeUndefined()
    expect(timeoutOf({ reason: new TimeoutReason('', 50) }, '')?.code).toBe('')
  })

  it.each([
    undefined,
    {},
    AbortSignal.abort(),
    AbortSignal.abort('TimeoutReason'),
    AbortSignal.abort(0),
    AbortSignal.abort(null),
    new AbortController().signal,
    { reason: new DOMException('The operation timed out', 'TimeoutError') },
    { reason: { name: 'TimeoutReason', code: 'LATE', timeoutMs: 50, message: 'LATE after 50ms' } },
    { reason: Object.assign(new Error('LATE after 50ms'), { name: 'TimeoutReason', code: 'LATE', timeoutMs: 50 }) },
  ])('finds nothing in %o', (x) => {
    expect(timeoutOf(x)).toBeUndefined()
    expect(timeoutOf(x, 'LATE')).toBeUndefined()
  })

  it('tells a running deadline from one that was cancelled', () => {
    using limit = deadline(new AbortController().signal, 1_000, 'LATE')
    expect(timeoutOf(limit.signal)).toBeUndefined()
  })
})

describe('TimeoutReason', () => {
  it('is an error that says code and budget, wherever it is shown', () => {
    const reason = new TimeoutReason('LATE', 50)
    expect(reason).toBeInstanceOf(Error)
    expect(String(reason)).toBe('TimeoutReason: LATE after 50ms')
    expect(reason.stack).toMatch(/^TimeoutReason: LATE after 50ms\n/)
    expect(Object.entries(reason)).toEqual([
      ['code', 'LATE'],
      ['timeoutMs', 50],
    ])
    expect(inspect(reason)).toContain(`code: 'LATE'`)
  })

  it('is known by a registered brand, which nothing can take away', () => {
    const reason = new TimeoutReason('LATE', 50)
    expect(Symbol.for('@loopguard/timeout/reason') in reason).toBe(true)
    expect(Reflect.set(reason, Symbol.for('@loopguard/timeout/reason'), false)).toBe(false)
    expect(timeoutOf({ reason: Object.freeze(reason) })).toBe(reason)
  })
})
