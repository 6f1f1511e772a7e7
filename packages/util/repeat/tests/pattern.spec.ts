import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { matcherOf, trackerOf } from '../src/pattern.ts'

// A busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 })

/** What a pattern means, told by its definition: exponential, and right. */
function matchesNaively(pattern: string, name: string): boolean {
  if (pattern === '') return name === ''
  if (pattern[0] !== '*') return pattern[0] === name[0] && name !== '' && matchesNaively(pattern.slice(1), name.slice(1))
  return matchesNaively(pattern.slice(1), name) || (name !== '' && matchesNaively(pattern, name.slice(1)))
}

it('a pattern means what its definition says, for any pattern and name', () => {
  const letters = (maxLength: number, ...from: string[]) => fc.string({ unit: fc.constantFrom(...from), maxLength })
  const anything = fc.tuple(letters(12, 'a', 'b', '*', '*', '\n', '.'), letters(12, 'a', 'a', 'b', '\n', '.', '*'))
  // Parts that begin as they go on, in names of which much nearly fits.
  const parts = fc.tuple(fc.array(letters(5, 'a', 'a', 'b'), { maxLength: 3 }), letters(14, 'a', 'a', 'b'))
  const nearlyFitting = parts.map(([list, name]): [string, string] => [`*${list.join('*')}*`, name])
  fc.assert(
    fc.property(fc.oneof(anything, nearlyFitting), ([pattern, name]) => {
      expect(matcherOf(pattern)(name)).toBe(matchesNaively(pattern, name))
    }),
    { numRuns: 20_000 },
  )
})

it('a pattern with its stars filled in is a name that it matches', () => {
  const text = fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)), maxLength: 5 })
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 6 }), (parts) => {
      const name = parts.map(([part, between], index) => (index === 0 ? part : between + part)).join('')
      expect(matcherOf(parts.map(([part]) => part).join('*'))(name)).toBe(true)
    }),
  )
})

it.each([
  ['mcp_*', ['mcp_', 'mcp_a', 'mcp_a\nb'], ['mcp', 'xmcp_a', 'MCP_a']],
  ['*', ['', 'a', '\n', 'a\nb\u2028c'], []],
  ['**', ['', 'a'], []],
  ['*_write', ['todo_write', '_write'], ['_writes', 'write']],
  ['a*b*c', ['abc', 'aXbYc', 'abbc', 'abcbc'], ['acb', 'ab', 'ac', 'abcd']],
  ['aa*aa', ['aaaa', 'aaXaa'], ['aaa', 'aa']],
  ['a.c', ['a.c'], ['abc', 'a.c\n']],
  ['[a]?(b)+^$|\\', ['[a]?(b)+^$|\\'], ['a', '\\']],
  ['*aab*', ['aaab', 'aabb', 'abaaab'], ['abab', 'aa']],
  ['*abab*ab', ['ababab', 'xababyab'], ['abab', 'ababa']],
  ['\u{1F600}*', ['\u{1F600}', '\u{1F600}x'], ['x\u{1F600}']],
])('%s', (pattern, yes, no) => {
  const matches = matcherOf(pattern)
  expect(yes.filter((name) => !matches(name))).toEqual([])
  expect(no.filter(matches)).toEqual([])
})

describe('time', () => {
  it('is under a millisecond for the pattern that made an expression take minutes', () => {
    const matches = matcherOf('*a*a*a*a*a*a*a*a*b')
    const name = 'a'.repeat(60)
    const best = Math.min(...Array.from({ length: 20 }, () => elapsed(() => expect(matches(name)).toBe(false))))
    expect(best).toBeLessThan(1)
  })

  it.each([
    ['many stars', '*a'.repeat(128), 'a'.repeat(100_000)],
    ['a part that almost fits everywhere', `*${'a'.repeat(253)}b*`, 'a'.repeat(100_000)],
    ['a part whose beginning is what differs', `*b${'a'.repeat(253)}*`, 'a'.repeat(100_000)],
    ['a part with many borders', `*${'ab'.repeat(126)}c*x`, 'ab'.repeat(50_000)],
  ])('is linear in the name, for any pattern that a configuration may have: %s', (_title, pattern, name) => {
    // Quadratic would be ten thousand million steps.
    const best = Math.min(...Array.from({ length: 3 }, () => elapsed(() => matcherOf(pattern)(name))))
    expect(best).toBeLessThan(1_000)
  })
})

describe('which tools count', () => {
  it.each([
    ['nothing given: all', [], [], ['a', 'b', ''], []],
    ['included', ['a*', 'b'], [], ['a', 'ab', 'b'], ['c', 'ba']],
    ['excluded', [], ['a*', 'b'], ['c', 'ba'], ['a', 'ab', 'b']],
    ['excluded though included', ['a*'], ['ab*'], ['a', 'ac'], ['ab', 'abc', 'b']],
    ['all excluded', ['a'], ['*'], [], ['a', 'a\nb']],
  ])('%s', (_title, include, exclude, yes, no) => {
    const tracks = trackerOf(include, exclude)
    expect(yes.filter((name) => !tracks(name))).toEqual([])
    expect(no.filter(tracks)).toEqual([])
  })
})

/** Milliseconds of processor time, which does not depend on what else runs on the machine. */
function elapsed(action: () => unknown): number {
  const { user } = process.cpuUsage()
  action()
  return (process.cpuUsage().user - user) / 1_000
}
