import { readFile } from 'node:fs/promises'
import { outcomeIdentity } from '@loopguard/repeat'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { masked } from '../src/mask.ts'

// A busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 })

/** What is left of a text, with `•` for what was masked. */
const left = (text: string, isError = false): string => [...masked(text, isError)].join('').replaceAll('\uFFFC', '•')

describe('in every result', () => {
  it.each([
    ['a timestamp', 'at 2026-12-01T03:36:28.123Z in', 'at • in'],
    ['one without a fraction, with an offset', '2026-12-01T03:36:28+01:00', '•'],
    ['one with a space, a comma and a zone', '2026-12-01 03:36:28,123 UTC done', '• done'],
    ['one of a log, to the minute', '[2026/12/01 03:36] ready', '[•] ready'],
    ['a time of day', '03:36:28.5 ready', '• ready'],
    ['a date of mail and HTTP', 'Date: Tue, 01 Dec 2026 03:36:28 GMT', 'Date: •'],
    ['a date of a log, and of the command `date`', 'Dec  1 03:36:28 host; Tue Dec  1 03:36:28 UTC 2026', '• host; •'],
    ['a date as JavaScript writes it', 'Tue Dec 01 2026 03:36:28 GMT+0000 (UTC)', '• (UTC)'],
    ['a UUID', 'id=550e8400-e29b-41d4-a716-446655440000;', 'id=•;'],
    ['a UUID in capitals, behind an underscore', 'run_550E8400-E29B-41D4-A716-446655440000', 'run_•'],
    ['a UUID of letters alone', 'abcdefab-cdef-abcd-efab-cdefabcdefab', '•'],
    ['a hash of a commit', 'HEAD is now at 3cc7340a1', 'HEAD is now at •'],
    ['hexadecimal digits in groups', 'key 1a2b-3c4d', 'key •'],
    ['an address', 'object at 0x7f8a12b3c4d5>', 'object at •>'],
    ['an id behind a word', 'req-1a2b3c4d5e and 1a2b3c4d5e-end', 'req-• and •-end'],
    ['sixteen digits without a letter', 'trace 1234567890123456', 'trace •'],
    ['a measured duration', 'passed in 0.53s, took 12 ms, 1.5 minutes', 'passed in •, took •, •'],
    ['a duration in microseconds, however it is spelled', '7µs, 8μs, 9us, 10ns', '•, •, •, •'],
  ])('%s is masked', (_title, text, shown) => {
    expect(left(text)).toBe(shown)
    expect(left(text, true)).toBe(shown)
  })

  it.each([
    ['a whole number of seconds: the age that a poll waits for', 'cache-0 0/1 Running 4s'],
    ['a date without a time', 'on 2026-12-01'],
    ['a date in words without a time', 'on Tue, 01 Dec 2026 and Dec 1'],
    ['a time without seconds', 'leaves at 10:30'],
    ['digits, fewer than sixteen', 'item 123456789012345'],
    ['a word of letters a to f', 'deadbeef facade 1'],
    ['seven hexadecimal digits', 'at 3cc7340'],
    ['a word that is no hexadecimal number', '1a2b3c4d5g x1a2b3c4d5'],
    ['a number with a unit that is none', '12 ms2 1.5 sm'],
    ['a version', '1.2.3 s'],
    ['more digits than a time has', '103:36:281'],
    ['text', 'nothing new'],
  ])('%s is not', (_title, text) => {
    expect(left(text)).toBe(text)
  })
})

describe('in an error', () => {
  it.each([
    ['every run of digits', 'line 12: 3 of 40 failed', 'line •: • of • failed'],
    ['whole durations', 'timed out after 30s', 'timed out after •'],
    ['durations in a row', 'gave up after 1m 30s, 2h5m', 'gave up after •, •'],
    ['digits in a word', 'x12y', 'x•y'],
  ])('%s too', (_title, text, shown) => {
    expect(left(text, true)).toBe(shown)
  })
})

const digits = (...of: string[]) => fc.string({ unit: fc.constantFrom(...of), minLength: 8, maxLength: 20 })
const hex = digits(...Array.from('0123456789abcdef')).filter((id) => /\d/.test(id) && /[a-f]/.test(id))
const time = fc
  .date({ min: new Date(0), max: new Date('2099-01-01'), noInvalidDate: true })
  .chain((date) =>
    fc.constantFrom(
      date.toISOString(),
      date.toISOString().slice(0, 19).replace('T', ' '),
      date.toISOString().slice(11, 19),
      date.toUTCString(),
    ),
  )
const duration = fc
  .tuple(fc.nat(100_000), fc.nat(999), fc.constantFrom('ms', ' ms', 's', 's', 'm', 'h', ' seconds'))
  .map(([whole, part, unit]) => `${whole}.${part}${unit}`)
/** Two ways in which one volatile part may stand there. */
const volatile = fc.oneof(
  fc.tuple(time, time),
  fc.tuple(fc.uuid(), fc.uuid()),
  fc.tuple(hex, hex),
  fc.tuple(duration, duration),
  fc.tuple(
    digits(...Array.from('0123456789')).map((id) => id.padEnd(16, '7')),
    digits(...Array.from('0123456789')).map((id) => id.padEnd(16, '3')),
  ),
)
const inErrors = fc.oneof(
  volatile,
  fc.tuple(fc.nat(), fc.nat()).map(([a, b]): [string, string] => [`${a}`, `${b}`]),
)
const word = fc.string({ unit: fc.constantFrom(...Array.from('ghijklmnopqrtuvwxyz#<>()[]"=\n')), maxLength: 12 })
const saying = (part: fc.Arbitrary<[string, string]>) =>
  fc
    .tuple(word, fc.array(fc.tuple(part, word), { minLength: 1, maxLength: 5 }))
    .map(([begin, parts]) => [0, 1].map((side) => begin + parts.map(([pair, after]) => ` ${pair[side]} ${after}`).join('')))

describe('two outcomes', () => {
  it('are one when they differ in what is volatile alone', () => {
    fc.assert(
      fc.property(saying(volatile), ([one = '', two = '']) => {
        expect(outcomeIdentity({ isError: false, text: one })).toBe(outcomeIdentity({ isError: false, text: two }))
      }),
      { numRuns: 2_000 },
    )
  })

  it('and two errors also when they differ in digits', () => {
    fc.assert(
      fc.property(saying(inErrors), ([one = '', two = '']) => {
        expect(outcomeIdentity({ isError: true, text: one })).toBe(outcomeIdentity({ isError: true, text: two }))
      }),
      { numRuns: 2_000 },
    )
  })

  it('are two when they say different things, whatever else is volatile in them', () => {
    const said = fc.string({ unit: fc.constantFrom(...Array.from('ghijklmnopqrtuvwxyz')), minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(saying(inErrors), said, said, fc.boolean(), ([one = '', two = ''], a, b, isError) => {
        fc.pre(a !== b)
        expect(outcomeIdentity({ isError, text: `${one} ${a}` })).not.toBe(outcomeIdentity({ isError, text: `${two} ${b}` }))
      }),
      { numRuns: 2_000 },
    )
  })

  it('are two when one is an error, and one result with different numbers is two', () => {
    expect(outcomeIdentity({ isError: true, text: 'done' })).not.toBe(outcomeIdentity({ isError: false, text: 'done' }))
    expect(outcomeIdentity({ isError: false, text: '5 left' })).not.toBe(outcomeIdentity({ isError: false, text: '4 left' }))
  })

  it('are compared as they are when nothing is to be masked', () => {
    const [one, two] = ['line 12', 'line 13'].map((text) => outcomeIdentity({ isError: true, text }, false))
    expect(one).not.toBe(two)
    expect(one).toBe(outcomeIdentity({ isError: true, text: 'line 12' }, false))
    expect(one).toMatch(/^[\da-f]{64}$/)
  })
})

describe('a long text', () => {
  it('is masked the same as in one piece, wherever it is cut', () => {
    const line = 'at 2026-12-01 03:36:28 UTC (0x7f8a12b3c4d5) 12 ms, 550e8400-e29b-41d4-a716-446655440000\n'
    const text = line.repeat(3_000)
    expect(text.length).toBeGreaterThan(4 * 65_536)
    expect(left(text)).toBe(left(line).repeat(3_000))
    expect(left(`x${text}`)).toBe(`x${left(text)}`)
  })

  it.each([
    ['words', 'the quick brown fox '],
    ['digits', '1'],
    ['hexadecimal digits', 'a1'],
    ['groups', 'ab1-'],
    ['durations in a row', '1m'],
    ['durations with spaces', '1 s '],
    ['dots', '1.'],
    ['times', '10:20:30.'],
    ['underscores', '1_'],
    ['beginnings of UUIDs', '0123abcd-0123-0123-0123-'],
    ['spaces', '1 '],
    ['hyphens', '-'],
  ])('takes time linear in it: %s', (_title, part) => {
    const timeOf = (length: number): number => {
      const text = `${part.repeat(Math.ceil(length / part.length))}x`
      const times = [0, 1, 2].map(() => {
        const before = performance.now()
        for (const _piece of masked(text, true));
        return performance.now() - before
      })
      return Math.min(...times)
    }
    timeOf(65_536)
    // Eight times the text; a quadratic time would be sixty-four times as long.
    expect(timeOf(524_288)).toBeLessThan(Math.max(20, timeOf(65_536)) * 24)
  })
})

it('docs/evidence.md shows the very expressions', async () => {
  const [source, page] = await Promise.all(
    ['../src/mask.ts', '../../../../docs/evidence.md'].map((path) => readFile(new URL(path, import.meta.url), 'utf8')),
  )
  const expressions = [...(source ?? '').matchAll(/^const ([A-Z_]+) =\s*(\/.*\/[a-z]*)$/gm)].map(([, name = '', expression = '']) => ({
    name,
    expression,
  }))
  const shown = [...(page ?? '').matchAll(/^([A-Z_]+) +(\/.*\/[a-z]*)$/gm)].map(([, name = '', expression = '']) => ({ name, expression }))
  // What only makes it quick is none of the page's business.
  expect(shown).toEqual(expressions.filter(({ name }) => name !== 'MAY_BE_VOLATILE'))
  expect(shown).toHaveLength(7)
})
