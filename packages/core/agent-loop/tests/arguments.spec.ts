import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { parseArguments } from '../src/arguments.ts'

describe('parseArguments', () => {
  it.each<[string, unknown]>([
    ['', {}],
    ['{}', {}],
    [' { "a" : 1 } ', { a: 1 }],
    ['null', null],
    ['"text"', 'text'],
    ['[1,2]', [1, 2]],
    ['{"e":"1e999"}', { e: '1e999' }],
    ['{"n":1e3}', { n: 1000 }],
    ['1e-999', 0],
  ])('%j is JSON', (raw, value) => {
    expect(parseArguments(raw)).toEqual(value)
  })

  it.each([' ', '{"a":1', '{a:1}', 'undefined', 'NaN', '{"n":1e999}', '[[-1E400]]', `{"deep":[{"n":${'9'.repeat(400)}}]}`, '1e999'])(
    '%j stays the text that it is',
    (raw) => {
      expect(parseArguments(raw)).toBe(raw)
    },
  )

  it('keeps an own __proto__ key', () => {
    const value = parseArguments('{"__proto__":{"a":1}}') as object
    expect(Object.keys(value)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  it('takes any depth', () => {
    const raw = '['.repeat(100_000) + '1e999' + ']'.repeat(100_000)
    expect(parseArguments(raw)).toBe(raw)
  })

  it('different JSON text stands for different values, or stays text', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        expect(parseArguments(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })
})
