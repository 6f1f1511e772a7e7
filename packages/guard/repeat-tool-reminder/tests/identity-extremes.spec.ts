import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { identityOf } from '../src/identity.ts'
import { previewOf } from '../src/preview.ts'
import { equalAsJson, json, reordered } from './json.ts'

// A busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 })

/** `{"a":[{"a":[ … core … ]}]}`, two levels at a time. */
function nested(levels: number, core: unknown): unknown {
  let value = core
  for (let level = 0; level < levels; level += 2) value = { a: [value] }
  return value
}

/** One object in two places, in an object in two places, and so on: written out, 2 to the power of `levels` of them. */
function shared(levels: number, core: unknown): unknown {
  let value = core
  for (let level = 0; level < levels; level++) value = { left: value, right: [value] }
  return value
}

describe('depth', () => {
  it.each([3_000, 100_000])('%d levels are told apart by what is innermost', (levels) => {
    const one = identityOf('tool', nested(levels, { x: 1, y: 2 }))
    expect(identityOf('tool', nested(levels, { y: 2, x: 1 }))).toBe(one)
    expect(identityOf('tool', nested(levels, { x: 1, y: 3 }))).not.toBe(one)
    expect(identityOf('tool', nested(levels + 2, { x: 1, y: 2 }))).not.toBe(one)
  })

  it('so are a million, and more', () => {
    expect(identityOf('tool', nested(1_000_000, 1))).not.toBe(identityOf('tool', nested(1_000_000, 2)))
    expect(identityOf('tool', nested(100_000, 1), 1_000)).not.toBe(identityOf('tool', nested(100_000, 2), 1_000))
  })

  it.each([Infinity, 1_000])('the preview shows the beginning and counts the rest (with a table above %d containers)', (many) => {
    expect(previewOf(nested(100_000, 'core'), 20, many)).toBe(`{"a":[{"a":[{"a":[{"… (+${50_000 * 8 + 6 - 20} more chars)`)
  })
})

describe('one object in many places', () => {
  it('costs what it costs once', () => {
    expect(identityOf('tool', shared(100, 1))).not.toBe(identityOf('tool', shared(100, 2)))
    expect(previewOf(shared(100, 0), 20)).toMatch(/^\{"left":\{"left":\{"le… \(\+[\de.+]+ more chars\)$/)
  })

  it('counts as if it were written out in each', () => {
    const one = identityOf('tool', shared(30, { x: 1, y: 2 }), 100)
    expect(identityOf('tool', shared(30, { y: 2, x: 1 }), 100)).toBe(one)
    expect(identityOf('tool', shared(31, { x: 1, y: 2 }), 100)).not.toBe(one)
    expect(identityOf('tool', JSON.parse(JSON.stringify(shared(9, 1))), 100)).toBe(identityOf('tool', shared(9, 1), 100))
    expect(previewOf(shared(9, 1), 1, 100)).toBe(`{… (+${JSON.stringify(shared(9, 1)).length - 1} more chars)`)
  })

  it('arguments too large to be written out have one identity if, and only if, they are equal as JSON', () => {
    const few = fc.integer({ min: 0, max: 3 })
    fc.assert(
      fc.property(json, json, few, (a, b, many) => {
        expect(identityOf('tool', a, many) === identityOf('tool', b, many)).toBe(equalAsJson(a, b))
      }),
      { numRuns: 1_000 },
    )
    fc.assert(
      fc.property(json, few, fc.infiniteStream(fc.nat()), (value, many, stream) => {
        const other = [0, reordered(value, (count) => (stream.next().value ?? 0) % count), value]
        expect(identityOf('tool', other, many)).toBe(identityOf('tool', [0, value, value], many))
      }),
      { numRuns: 1_000 },
    )
  })

  it('their lists, objects and texts are told apart', () => {
    const text = 'x'.repeat(10_000)
    const values = [[], {}, [[]], [{}], { a: 1 }, { b: 1 }, ['a', 1], [['a'], 1], text, `${text}y`, [text], 'text', ['text', text], null]
    const all = values.map((value) => identityOf('tool', [value, [], []], 2))
    expect(new Set(all).size).toBe(values.length)
    expect(identityOf('tool', [[], [], `${text.slice(1)}x`], 1)).toBe(identityOf('tool', [[], [], text], 1))
  })

  it('arguments that hold themselves are refused, not followed for ever', () => {
    const list: unknown[] = [1]
    list.push({ list })
    expect(() => identityOf('tool', list, 100)).toThrow('the arguments hold themselves')
    expect(() => previewOf(list, 5, 100)).toThrow('the arguments hold themselves')
  })
})

describe('size', () => {
  const pairs = '\u{1F600}'.repeat(1_000_000)

  it.each([
    ['ASCII', 'x'.repeat(5_000_000)],
    ['pairs of surrogates', pairs],
    ['pairs that no piece of even length can hold', `.${pairs}`],
    ['lone surrogates', '\ud800'.repeat(100_000)],
  ])('megabytes of %s are told apart by their last character', (_title, text) => {
    const one = identityOf('tool', { text })
    expect(identityOf('tool', { text: `${text.slice(0, -2)}${text.slice(-2)}` })).toBe(one)
    expect(identityOf('tool', { text: `${text}.` })).not.toBe(one)
    expect(identityOf('tool', { text: `${text.slice(0, -1)}.` })).not.toBe(one)
  })

  it('one long text in a thousand places is digested once', () => {
    const text = 'x'.repeat(5_000_000)
    const list = Array.from({ length: 1_000 }, () => text)
    const one = identityOf('tool', list)
    expect(identityOf('tool', list.toSpliced(500, 1, `${text.slice(1)}x`))).toBe(one)
    expect(identityOf('tool', list.toSpliced(500, 1, `${text.slice(1)}y`))).not.toBe(one)
    expect(previewOf(list, 5)).toBe(`["xxx… (+${1_000 * 5_000_003 + 1 - 5} more chars)`)
  })

  it('what fills the buffer many times is told apart by its last number', () => {
    const rows = (last: number): unknown[] =>
      Array.from({ length: 5_000 }, (_, index) => ({
        id: index,
        text: `row ${index} \u{1F600}`,
        ratio: index / 7,
        last: index === 4_999 ? last : 0,
      }))
    expect(identityOf('tool', rows(1))).toBe(identityOf('tool', rows(1)))
    expect(identityOf('tool', rows(1))).not.toBe(identityOf('tool', rows(2)))
  })
})
