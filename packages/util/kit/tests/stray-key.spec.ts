import { strayKey } from '@loopguard/kit'
import { expect, it } from 'vitest'

it('a key that nothing reads is named, with the one that was meant', () => {
  expect(strayKey({ kind: 'deny', reson: 'no' }, ['kind', 'reason'])).toBe(
    'has the key "reson", which nothing here reads, did you mean `reason`?',
  )
  expect(strayKey({ kind: 'allow', value: 1 }, ['kind'])).toBe('has the key "value", which nothing here reads, expected `kind`')
})

it('known keys, and keys that hold nothing, are no stray ones', () => {
  expect(strayKey({ kind: 'allow', value: undefined }, ['kind'])).toBeUndefined()
  expect(strayKey({}, [])).toBeUndefined()
})
