import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, expect, it, vi } from 'vitest'
import { callIdentity, keyOf } from '../src/identity.ts'
import { OwnSha256, sha256 } from '../src/sha256.ts'

afterEach(() => vi.unstubAllGlobals())

const known = (texts: readonly string[]): string => createHash('sha256').update(texts.join('')).digest('hex')
const own = (texts: readonly string[]): string => texts.reduce((digest, text) => digest.update(text), new OwnSha256()).digest()

it('the own digest is SHA-256, for texts of any length in any pieces', () => {
  for (let length = 0; length < 200; length++) expect(own(['x'.repeat(length)])).toBe(known(['x'.repeat(length)]))
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 200 })), (texts) => {
      expect(own(texts)).toBe(known(texts))
    }),
  )
  expect(own(['\u{1F600}'.repeat(50_000)])).toBe(known(['\u{1F600}'.repeat(50_000)]))
})

it.each([
  ['no process', undefined],
  ['a process without built-in modules', {}],
  ['a process without that one', { getBuiltinModule: () => undefined }],
])('stands in for the one of Node where there is %s: the identities are the same', (_title, process) => {
  const before = identities()
  vi.stubGlobal('process', process)
  expect(sha256()).toBeInstanceOf(OwnSha256)
  expect(identities()).toEqual(before)
})

it('where the one of Node digests piece by piece alone, the identities are the same', () => {
  const before = identities()
  vi.stubGlobal('process', { getBuiltinModule: () => ({ createHash }) })
  expect(identities()).toEqual(before)
})

/** Of a text in many pieces, of one in one piece, and of a short one. */
function identities(): readonly string[] {
  const args = { text: 'x'.repeat(50_000), list: Array.from({ length: 5_000 }, (_, index) => ({ index })) }
  return [keyOf('write', args), keyOf('write', { text: 'é'.repeat(300) }), callIdentity('look', {})]
}
