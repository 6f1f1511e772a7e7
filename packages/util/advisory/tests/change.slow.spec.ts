import { outcomeIdentity } from '@loopguard/repeat'
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { changeOf, seenOf } from '../src/change.ts'

// A busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 })

const compare = (one: string, two: string, isError = false): string =>
  changeOf(seenOf({ isError, text: one }), seenOf({ isError, text: two }))

it.each([
  ['the same text', 'a 1', 'a 1', 'same'],
  ['another word', 'one match', 'no match', 'other'],
  ['a word that is missing', 'no match', 'no', 'other'],
  ['numbers that differ', '3 left', '4 left', 'unknown'],
  ['ids that differ', 'run 1a2b3c4d', 'run 5e6f7a8b', 'unknown'],
  ['a unit that differs', 'in 5 ms', 'in 1.2 seconds', 'unknown'],
  ['a date in words that differs', 'x Tue, 01 Dec 2026 03:36:28 GMT', 'x Wed, 02 Dec 2026 04:36:28 GMT', 'unknown'],
  ['a date in words and one in digits', 'x=Tue, 01 Dec 2026 03:36:28 GMT', 'x=2026-12-01 03:36:28', 'unknown'],
  ['a UUID of letters', 'x abcdefab-cdef-abcd-efab-cdefabcdefab', 'x bbcdefab-cdef-abcd-efab-cdefabcdefab', 'unknown'],
])('%s', (_title, one, two, change) => {
  expect(compare(one, two)).toBe(change)
})

it('an error is another outcome than a success with its words', () => {
  expect(changeOf(seenOf({ isError: true, text: 'no' }), seenOf({ isError: false, text: 'no' }))).toBe('other')
})

it('never says what the guards would not: the same is the same for them, and another is another', () => {
  const part = fc.oneof(
    fc.constantFrom(
      '5 ms',
      '5ms',
      '1.5 s',
      '1m 30s',
      '2h',
      '12',
      '1a2b3c4d5',
      '0x1a2b3c4d',
      'deadbeef',
      'and',
      'made s',
      'ms',
      'utc',
      '9,',
      '(7)',
    ),
    fc.constantFrom(
      '2026-12-01 10:20:30',
      '2026-12-01T10:20:30Z',
      '10:20:30.5 UTC',
      '10:20:30 +01:00',
      '1234567890123456',
      'a-b-1',
      'Tue, 01 Dec 2026 03:36:28 GMT',
      'Dec  1 03:36:28',
    ),
    fc.uuid(),
    fc.string({ unit: fc.constantFrom(...Array.from('0123456789abcdefxsm .:-,')), maxLength: 12 }),
  )
  const glue = fc.constantFrom(' ', ' ', ' ', '', '\n', '=', ', ')
  const text = fc.array(fc.tuple(part, glue), { maxLength: 6 }).map((parts) => parts.flat().join(''))
  const seen: Record<string, number> = {}
  fc.assert(
    fc.property(text, text, fc.boolean(), fc.boolean(), (one, other, isError, isNear) => {
      const two = isNear
        ? one
            .replace(/\d+/, '77')
            .replace(/ ms|ms/, ' s')
            .replace('Tue, 01 Dec', 'Fri, 04 Jan')
        : other
      const change = compare(one, two, isError)
      seen[change] = (seen[change] ?? 0) + 1
      const isSame = outcomeIdentity({ isError, text: one }) === outcomeIdentity({ isError, text: two })
      expect(change === 'unknown' || isSame === (change === 'same')).toBe(true)
    }),
    { numRuns: 20_000 },
  )
  expect(Object.keys(seen).toSorted()).toEqual(['other', 'same', 'unknown'])
})
