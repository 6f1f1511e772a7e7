import { codeOf, HarnessError, messageOf } from '@loopguard/kit'
import { expect, it } from 'vitest'

it('a HarnessError has a code, a name and its cause', () => {
  const cause = new Error('why')
  const error = new HarnessError('it failed', 'IT_FAILED', { cause })
  expect([error.name, error.message, error.code, error.cause]).toEqual(['HarnessError', 'it failed', 'IT_FAILED', cause])
  expect(error).toBeInstanceOf(Error)
})

const unshowable = Object.defineProperty({}, 'message', {
  get: () => {
    throw new Error('no message')
  },
})

it.each<[string, unknown, string]>([
  ['an error', new Error('boom'), 'boom'],
  ['text', 'boom', 'boom'],
  ['undefined', undefined, 'undefined'],
  ['null', null, 'null'],
  ['an object with a message', { message: 'boom' }, 'boom'],
  ['an object without one', {}, '[object Object]'],
  ['a symbol', Symbol('s'), 'Symbol(s)'],
  ['an object that cannot be shown', Object.create(null), 'a value that cannot be shown was thrown'],
  ['an object whose message throws', unshowable, 'a value that cannot be shown was thrown'],
])('the message of %s', (_what, thrown, message) => {
  expect(messageOf(thrown)).toBe(message)
})

it('the code of a thrown value is its text `code`, if it has one', () => {
  expect(codeOf(new HarnessError('x', 'A'))).toBe('A')
  expect(codeOf({ code: 'B' })).toBe('B')
  for (const thrown of [new Error('x'), { code: 7 }, null, undefined, 'C', unshowable]) expect(codeOf(thrown)).toBeUndefined()
  expect(
    codeOf({
      get code() {
        throw new Error('no code')
      },
    }),
  ).toBeUndefined()
})
