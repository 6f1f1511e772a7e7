import { failureOf, HarnessError, LlmError } from '@loopguard/llm'
import { expect, it } from 'vitest'

it('an LlmError holds its failure as frozen data, without what is not known', () => {
  const error = new LlmError('slow down', 'RATE_LIMITED', { status: 429, retryAfterMs: 5, requestId: 'r', retryable: true, cause: 'c' })
  expect(error.failure).toEqual({
    message: 'slow down',
    code: 'RATE_LIMITED',
    status: 429,
    retryAfterMs: 5,
    requestId: 'r',
    retryable: true,
  })
  expect([error.name, error.cause, Object.isFrozen(error.failure)]).toEqual(['LlmError', 'c', true])
  expect(error).toBeInstanceOf(HarnessError)
  expect(Object.keys(new LlmError('no', 'NO').failure)).toEqual(['message', 'code'])
})

it('a number that is none never gets into a failure: the log could not hold it', () => {
  expect(new LlmError('no', 'NO', { status: Number.NaN, retryAfterMs: Number.POSITIVE_INFINITY }).failure).toEqual({
    message: 'no',
    code: 'NO',
  })
})

it('a failure is data: of an LlmError its own, of anything else its message and code', () => {
  const error = new LlmError('slow down', 'RATE_LIMITED', { status: 429 })
  expect(failureOf(error, 'OTHER')).toBe(error.failure)
  expect(failureOf(Object.assign(new Error('gone'), { code: 'ECONNRESET' }), 'OTHER')).toEqual({ message: 'gone', code: 'ECONNRESET' })
  expect(failureOf('boom', 'OTHER')).toEqual({ message: 'boom', code: 'OTHER' })
  expect(Object.isFrozen(failureOf('boom', 'OTHER'))).toBe(true)
})

it('an LlmError of another loaded copy of the package is known too', () => {
  class Copy extends Error {
    readonly failure = { message: 'slow down', code: 'RATE_LIMITED', status: 429 }
    get [Symbol.for('loopguard.llm.LlmError')](): true {
      return true
    }
  }
  const other = new Copy('slow down')
  expect(other).not.toBeInstanceOf(LlmError)
  expect(failureOf(other, 'OTHER')).toBe(other.failure)
  expect(Symbol.for('loopguard.llm.LlmError') in new LlmError('x', 'X')).toBe(true)
})
