import { keyHint, nearest } from '@loopguard/kit'
import { expect, it } from 'vitest'

const KEYS = ['thresholds', 'include', 'exclude']

it.each([
  ['one letter short', 'treshold', 'thresholds'],
  ['two neighbours swapped', 'thershodls', 'thresholds'],
  ['other capitals', 'INCLUDE', 'include'],
  ['nearer to one than to the other', 'exlude', 'exclude'],
  ['three letters away', 'excludeabc', 'exclude'],
])('a word that is %s is taken for the nearest', (_what, word, meant) => {
  expect(nearest(word, KEYS)).toBe(meant)
})

it('a swap counts once: three of them are still near, and four letters are not', () => {
  expect(nearest('badcfe', ['abcdef'])).toBe('abcdef')
  expect(nearest('wxyzef', ['abcdef'])).toBeUndefined()
})

it('without known words there is none to mean, and only the first forty characters are compared', () => {
  expect(nearest('x', [])).toBeUndefined()
  expect(nearest('a'.repeat(1_000_000), ['a'.repeat(40)])).toBe('a'.repeat(40))
})

it('the hint names the nearest key, or all of them, or says that there are none', () => {
  expect(keyHint('exclud', KEYS)).toBe(', did you mean `exclude`?')
  expect(keyHint('colour', KEYS)).toBe(', expected `thresholds`, `include`, `exclude`')
  expect(keyHint('colour', [])).toBe(', it takes no configuration')
})
