import { describe, expect, it, vi } from 'vitest'
import { keyOf } from '../src/identity.ts'
import { previewOf } from '../src/preview.ts'

// A busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 })

/** `{"a":[{"a":[ … core … ]}]}`, two levels at a time. */
function nested(levels: number, core: unknown): unknown {
  let value = core
  for (let level = 0; level < levels; level += 2) value = { a: [value] }
  return value
}

describe('depth', () => {
  it.each([3_000, 100_000])('%d levels are told apart by what is innermost', (levels) => {
    const one = keyOf('tool', nested(levels, { x: 1, y: 2 }))
    expect(keyOf('tool', nested(levels, { y: 2, x: 1 }))).toBe(one)
    expect(keyOf('tool', nested(levels, { x: 1, y: 3 }))).not.toBe(one)
    expect(keyOf('tool', nested(levels + 2, { x: 1, y: 2 }))).not.toBe(one)
  })

  it('so are a million, and more', () => {
    expect(keyOf('tool', nested(1_000_000, 1))).not.toBe(keyOf('tool', nested(1_000_000, 2)))
  })

  it('the preview shows the beginning and counts the rest', () => {
    expect(previewOf(nested(100_000, 'core'), 20)).toBe(`{"a":[{"a":[{"a":[{"… (+${50_000 * 8 + 6 - 20} more chars)`)
  })
})

describe('what no JSON text can hold', () => {
  it.each([1, 1_000, 5_000])('arguments that hold themselves, %d levels down, are refused and not followed for ever', (levels) => {
    const list: unknown[] = [1]
    list.push(nested(levels, list))
    expect(() => keyOf('tool', list)).toThrow('the arguments hold themselves')
    expect(() => previewOf([list, list], 5)).toThrow('the arguments hold themselves')
  })

  it('one object in two places is written out in each', () => {
    const part = { x: 1, y: [2] }
    expect(keyOf('tool', [part, { part }])).toBe(keyOf('tool', [{ y: [2], x: 1 }, { part: { x: 1, y: [2] } }]))
  })

  it('one in so many places that it would be written out for minutes is refused', () => {
    let value: unknown = 'x'.repeat(2_000_000)
    for (let level = 0; level < 100; level++) value = [value, value]
    const refusal = 'the arguments are longer than 67108864 characters'
    expect(() => keyOf('tool', value)).toThrow(refusal)
    expect(() => previewOf(value, 5)).toThrow(refusal)
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
    const one = keyOf('tool', { text })
    expect(keyOf('tool', { text: `${text.slice(0, -2)}${text.slice(-2)}` })).toBe(one)
    expect(keyOf('tool', { text: `${text}.` })).not.toBe(one)
    expect(keyOf('tool', { text: `${text.slice(0, -1)}.` })).not.toBe(one)
  })

  it('what is written in many pieces is told apart by its last number', () => {
    const rows = (last: number): unknown[] =>
      Array.from({ length: 5_000 }, (_, index) => ({
        id: index,
        text: `row ${index} \u{1F600}`,
        ratio: index / 7,
        last: index === 4_999 ? last : 0,
      }))
    expect(keyOf('tool', rows(1))).toBe(keyOf('tool', rows(1)))
    expect(keyOf('tool', rows(1))).not.toBe(keyOf('tool', rows(2)))
  })
})
