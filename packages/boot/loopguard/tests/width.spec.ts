import { describe, expect, it } from 'vitest'
import { fitted, folded, hanging } from '../src/show/width.ts'

describe('a line that is longer than the terminal', () => {
  it.each([
    ['is broken between words', '', 'one two three', 12, 'one two\nthree'],
    ['keeps the indent of its lead', '  user      ', 'one two three four', 26, '  user      one two three\n            four'],
    ['keeps the indent of the text', '  ', '    one two three', 18, '      one two\n      three'],
    ['has tabs of four', '', '\tone two three', 16, '    one two\n    three'],
    ['is broken within a word only where it must be', '', 'a abcdefghijklmno', 12, 'a abcdefghij\nklmno'],
    ['counts what a terminal shows: wide characters twice', '', '漢漢漢漢 漢漢漢', 12, '漢漢漢漢\n漢漢漢'],
    [
      'has no colours in its width',
      '\u001b[1mab\u001b[22m ',
      'one two three four five',
      25,
      '\u001b[1mab\u001b[22m one two three four\n   five',
    ],
    ['is not made narrower than can be read', ' '.repeat(30), 'one two three', 20, `${' '.repeat(30)}one two\n${' '.repeat(8)}three`],
  ])('%s', (_, lead, text, columns, expected) => {
    expect(hanging(lead, text, columns)).toBe(expected)
  })

  it('stays as it is when it just fits', () => {
    expect(hanging('ab ', 'one two three', 16)).toBe('ab one two three')
  })
})

it('each line of a text is folded by itself; the number of an item is part of the indent', () => {
  expect(folded('title\n  1. one two three four\n\nsummary: none\n', 18)).toBe('title\n  1. one two three\n     four\n\nsummary: none\n')
})

it.each([
  ['short', 5, 'short'],
  ['longer', 5, 'long…'],
  ['漢漢漢', 5, '漢漢…'],
  ['漢漢漢', 4, '漢…'],
  ['👩‍👩‍👧👩‍👩‍👧', 3, '👩‍👩‍👧…'],
])('%s fitted into %i columns is %s', (text, columns, expected) => {
  expect(fitted(text, columns)).toBe(expected)
})
