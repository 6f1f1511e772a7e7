import { callIdentity } from '@loopguard/repeat'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { keyOf, matches } from '../src/recount.ts'
import { reordered } from './json.ts'

const key = fc.oneof(fc.constantFrom('__proto__', 'constructor', '', '0', '10', '9', '\ud800'), fc.string({ maxLength: 3 }))
const json = fc.jsonValue({ maxDepth: 4, depthSize: 'small' })
const value = fc.oneof(
  json,
  fc.constantFrom(-0, '\ud800', '\udc00', 1e300),
  fc.array(fc.tuple(key, json), { maxLength: 4 }).map((entries): unknown => Object.fromEntries(entries)),
)

it('two calls have one key if, and only if, the guard takes them for the same call', () => {
  fc.assert(
    fc.property(value, value, fc.infiniteStream(fc.nat()), (a, b, stream) => {
      const shuffled = reordered(a, (count) => (stream.next().value ?? 0) % count)
      expect(keyOf('look', shuffled)).toBe(keyOf('look', a))
      expect(keyOf('look', a) === keyOf('look', b)).toBe(callIdentity('look', a) === callIdentity('look', b))
      expect(keyOf('seek', a)).not.toBe(keyOf('look', a))
    }),
    { numRuns: 500 },
  )
})

it('a long call is kept as a digest, which is the key of no other call', () => {
  const long = (last: string): unknown => ({ text: 'x'.repeat(1_000), last })
  const keys = [long('a'), long('b'), 'x'.repeat(300), 'x'.repeat(301), 'x'.repeat(10)].map((args) => keyOf('look', args) as string)
  expect(new Set([...keys, ...keys.map((key) => keyOf('look', key)), ...keys.map((key) => keyOf(key, undefined))]).size).toBe(15)
  expect(keyOf('look', { last: 'a', text: 'x'.repeat(1_000) })).toBe(keys[0])
  expect(Math.max(...keys.map((key) => key.length))).toBeLessThanOrEqual(256)
  expect(keyOf('x'.repeat(1_000), 1)).not.toBe(keyOf('x'.repeat(1_001), 1))
})

it('arguments that a host could not read are no others', () => {
  const keys = [undefined, null, 'undefined', {}, '', [undefined], [null], []].map((args) => keyOf('look', args))
  expect(new Set(keys).size).toBe(keys.length)
  expect(keys).not.toContain(undefined)
})

const circle: unknown[] = []
circle.push(circle)
it.each([
  ['a date', [new Date(0)]],
  ['a bigint', 1n],
  ['a number out of range', [Infinity]],
  ['no number', { a: NaN }],
  ['a function', { toJSON: () => 1 }],
  ['what holds itself', circle],
  ['too many values', Array.from({ length: 200_000 }, () => 1)],
])('has no key: %s', (_title, args) => {
  expect(keyOf('look', args)).toBeUndefined()
})

it('a pattern means what its definition says', () => {
  const naive = (pattern: string, name: string): boolean => {
    if (pattern === '') return name === ''
    if (pattern[0] !== '*') return pattern[0] === name[0] && naive(pattern.slice(1), name.slice(1))
    return naive(pattern.slice(1), name) || (name !== '' && naive(pattern, name.slice(1)))
  }
  const letters = (...from: string[]) => fc.string({ unit: fc.constantFrom(...from), maxLength: 9 })
  fc.assert(
    fc.property(letters('a', 'b', '*', '\n', '.'), letters('a', 'a', 'b', '\n', '.', '*'), (pattern, name) => {
      expect(matches(pattern, name)).toBe(naive(pattern, name))
    }),
    { numRuns: 3_000 },
  )
  expect(matches('*a*a*a*a*a*a*a*a*b', 'a'.repeat(10_000))).toBe(false)
})
