import { expect, it } from 'vitest'
import { flat, head, quote } from '../src/quote.ts'

it.each(['', 'plain', 'a"b\\c', 'é'.repeat(60), '\ud83d', 'x'.repeat(41)])('%j is quoted as JSON writes it', (text) => {
  expect(quote(text)).toBe(JSON.stringify(text))
})

it('a key is written the same whether it is remembered, too long for that, or one of very many', () => {
  for (const key of ['a', 'a', 'k'.repeat(50), 'k'.repeat(50)]) expect(head(key)).toBe(`${JSON.stringify(key)}:`)
  for (let index = 0; index < 600; index++) expect(head(`key ${index}`)).toBe(`"key ${index}":`)
})

it('a text in one piece is the same text', () => {
  expect([flat(''), flat('ab'.repeat(3))]).toEqual(['', 'ababab'])
})
