import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { counted, duration, minute, moment, money, number, size } from '../../src/report/numbers.ts'
import { Cutter, firstLine } from '../../src/report/page/cutter.ts'
import { html, json, visible } from '../../src/report/page/html.ts'
import { brief, shortened } from '../../src/report/shortened.ts'
import { nameOf, PageNames } from '../../src/report/write/names.ts'
import { hostile } from './hostile-text.ts'

describe('numbers', () => {
  it.each<[string, string]>([
    [number(1_234_567), '1,234,567'],
    [counted(1, 'call'), '1 call'],
    [counted(1200, 'call'), '1,200 calls'],
    [duration(0), '0 ms'],
    [duration(999.4), '999 ms'],
    [duration(999.6), '1.00 s'],
    [duration(9_996), '10.0 s'],
    [duration(59_949), '59.9 s'],
    [duration(59_960), '1 min'],
    [duration(125_000), '2 min 5 s'],
    [duration(3_599_600), '1 h'],
    [duration(11_520_000), '3 h 12 min'],
    [duration(86_400_000 * 2 + 3_600_000), '2 d 1 h'],
    [money(0), '$0'],
    [money(0.00001), '< $0.0001'],
    [money(0.0439), '$0.0439'],
    [money(1234.5), '$1,234.50'],
    [size(1023), '1023 B'],
    [size(33 * 1024), '33 KiB'],
    [size(1024 * 1024 * 1.25), '1.3 MiB'],
    [moment(Date.UTC(2026, 10, 30, 19, 36, 46)), '2026-11-30 19:36:46 UTC'],
    [minute(Date.UTC(2026, 10, 30, 19, 36, 46)), '2026-11-30 19:36'],
    [moment(1e300), 'at no known time'],
  ])('%s is %s', (written, wanted) => {
    expect(written).toBe(wanted)
  })
})

describe('names of pages', () => {
  it('are plain, none twice whatever the case, and none that of the table, for any names', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(hostile, fc.constantFrom('index', 'a', 'A', '..', 'con', 'a/b', 'a_b', 'x'.repeat(300)))), (names) => {
        const pages = new PageNames()
        const made = names.map((name) => pages.of(name))
        for (const page of made) expect(page).toMatch(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,110}\.html$/)
        expect(new Set([...made.map((page) => page.toLowerCase()), 'index.html']).size).toBe(made.length + 1)
        for (const page of made) expect(page).not.toMatch(/^(?:con|nul|aux|prn|com\d|lpt\d)\./i)
      }),
    )
  })

  it.each([
    ['logs/fixer.jsonl', 'fixer'],
    ['a.b.json', 'a.b'],
    ['.jsonl', '.jsonl'],
    ['-', 'report'],
    ['README', 'README'],
  ])('of one session come from its file: %s', (file, name) => {
    expect(nameOf(file)).toBe(name)
  })
})

describe('long texts', () => {
  it('are cut so that all of them fit, as markup and as JSON, and short ones are left alone', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            hostile,
            hostile.map((text) => text.repeat(50)),
          ),
          { minLength: 1, maxLength: 20 },
        ),
        fc.integer({ min: 500, max: 20_000 }),
        (texts, budget) => {
          const cutter = new Cutter(texts, budget)
          const cut = texts.map((text) => cutter.cut(text))
          const added = texts.length * 60
          expect(Buffer.byteLength(html`${cut}`.text)).toBeLessThanOrEqual(budget * 1.5 + added)
          expect(Buffer.byteLength(json(cut.map(visible)).text)).toBeLessThanOrEqual(budget * 1.5 + added + 3 * texts.length + 2)
          const shorter = cut.filter((text, index) => text !== texts[index])
          expect(shorter.filter((text) => !/… \(\+[\d,]+ more characters\)$/.test(text))).toEqual([])
        },
      ),
    )
    expect(new Cutter(['a', 'b'.repeat(100)], 10_000).cut('b'.repeat(100))).toBe('b'.repeat(100))
    expect(new Cutter(['a', 'b'.repeat(100)], 51).cut('b'.repeat(100))).toBe(`${'b'.repeat(47)}… (+53 more characters)`)
    expect(new Cutter(['x'.repeat(90_000)], 1e9).cut('x'.repeat(90_000))).toBe(`${'x'.repeat(19_999)}… (+70,001 more characters)`)
  })

  it('are never cut through a character', () => {
    expect(shortened('ab😀', 3)).toBe('ab…')
    expect(brief('x'.repeat(101))).toBe(`${'x'.repeat(100)}…`)
    expect(firstLine('\n  first\u0000\nsecond', 20)).toBe('first\\x00')
  })
})
