import { clip, show } from '@loopguard/kit'
import { expect, it } from 'vitest'

const { proxy, revoke } = Proxy.revocable({}, {})
revoke()

it.each<[unknown, string]>([
  ['a\nb', '"a\\nb"'],
  [7, '7'],
  [-0, '0'],
  [10n, '10'],
  [null, 'null'],
  [undefined, 'undefined'],
  [Symbol('s'), 'Symbol(s)'],
  [() => 1, 'a function'],
  [[1], 'an array'],
  [{ a: 1 }, 'an object'],
  [Object.create(null), 'an object'],
])('%o is shown as %s', (value, shown) => {
  expect(show(value)).toBe(shown)
})

it('a revoked proxy can be shown', () => {
  expect(show(proxy)).toBe('an object')
})

it('long text is cut after 80 code points, never inside a character', () => {
  expect(show('😀'.repeat(200))).toBe(`"${'😀'.repeat(79)}…`)
  expect(show('x'.repeat(200))).toBe(`"${'x'.repeat(79)}…`)
})

it('text that fits is not touched, however many units its characters take', () => {
  expect([clip('😀😀', 2), clip('😀😀', 1), clip('', 0), clip('ab', 0)]).toEqual(['😀😀', '😀…', '', '…'])
})
