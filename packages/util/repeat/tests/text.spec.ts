import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { previewOf } from '../src/preview.ts'
import { detailed, isReminder } from '../src/text.ts'
import { createRepeatTracker } from '../src/tracker.ts'
import { json } from './json.ts'

// A busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 })

const GENTLE =
  'You are repeating the exact same tool call with identical arguments. Carefully analyze the previous result before calling again: if the task is not complete, try a different approach or different arguments instead of repeating the call.'

const lines = (tool: string, args: unknown, previewChars = 500): string[] => detailed(tool, args, 5, previewChars).split('\n')

/** What a tracker says of each of so many equal calls. */
function said(calls: number, tool: string, args: unknown): (string | undefined)[] {
  const tracker = createRepeatTracker()
  const agent = {}
  return Array.from({ length: calls }, () => tracker.observe(agent, tool, args))
}

describe('the texts', () => {
  it('gentle, to the letter, at the first threshold', () => {
    expect(said(3, 'look', { at: 'a' })).toEqual([undefined, undefined, GENTLE])
  })

  it('detailed, to the letter, at a later one', () => {
    expect(said(5, 'look', { b: [1, { d: 2, c: 3 }], a: 'x' }).at(-1)).toBe(`Loop warning: one and the same tool call, again and again.
- tool: look
- consecutive_calls: 5
- arguments: {"a":"x","b":[1,{"c":3,"d":2}]}
These calls make no progress. Do not make this call with these arguments again: take a different action, or call with different arguments. If you have gathered enough evidence, finish the task.`)
  })
})

describe('the tool name', () => {
  it.each([
    ['a line break', 'look\n- tool: other', 'look\\u000a- tool: other'],
    ['every break of a line there is', 'a\r\n\v\f\u0085\u2028\u2029b', 'a\\u000d\\u000a\\u000b\\u000c\\u0085\\u2028\\u2029b'],
    ['control characters', '\0\u001b[31m\u007f\u009b', '\\u0000\\u001b[31m\\u007f\\u009b'],
    ['lone surrogates', 'a\ud800b\udc00', 'a\\ud800b\\udc00'],
    ['what is fine as it is', 'mcp__größe-😀 "x"', 'mcp__größe-😀 "x"'],
    ['200 code points', '😀'.repeat(200), '😀'.repeat(200)],
    ['201 code points', '😀'.repeat(201), `${'😀'.repeat(199)}…`],
    ['10,000 characters', 'x'.repeat(10_000), `${'x'.repeat(199)}…`],
    ['breaks that grow beyond the limit', '\n'.repeat(100), `${'\\u000a'.repeat(33)}\\…`],
    ['nothing', '', ''],
  ])('stays on one line, and bounded: %s', (_title, name, shown) => {
    expect(lines(name, {})).toHaveLength(5)
    expect(lines(name, {})[1]).toBe(`- tool: ${shown}`)
  })
})

describe('the preview', () => {
  it.each([
    ['as long as the limit', 'x'.repeat(8), 10, '"xxxxxxxx"'],
    ['one longer than the limit', 'x'.repeat(9), 10, '"xxxxxxxxx… (+1 more chars)'],
    ['much longer', 'x'.repeat(100_000), 10, '"xxxxxxxxx… (+99992 more chars)'],
    ['an emoji at the cut', '😀😀😀', 2, '"😀… (+3 more chars)'],
    ['emoji are one character each', '😀'.repeat(8), 10, `"${'😀'.repeat(8)}"`],
    ['an odd number of units before emoji', `a${'😀'.repeat(9)}`, 3, '"a😀… (+9 more chars)'],
    ['a limit of one', [1, 2], 1, '[… (+4 more chars)'],
    ['lone surrogates', ['\ud83d', 'a\ude00'], 100, '["\\ud83d","a\\ude00"]'],
    ['a cut within a key', { keykeykey: 1 }, 5, '{"key… (+10 more chars)'],
    ['line separators', 'a\u2028b\u2029c\u0085d\u007fe', 100, '"a\\u2028b\\u2029c\\u0085d\\u007fe"'],
    ['escapes of JSON', 'a\n\t"\\\0', 100, '"a\\n\\t\\"\\\\\\u0000"'],
    ['text that was no JSON', '{"a":1\n', 100, '"{\\"a\\":1\\n"'],
    ['an own __proto__', JSON.parse('{"b":0,"__proto__":{"d":1,"c":2}}') as unknown, 100, '{"__proto__":{"c":2,"d":1},"b":0}'],
    ['nothing in it', [{}, [], '', null, true, -0], 100, '[{},[],"",null,true,0]'],
    ['no arguments', undefined, 100, 'undefined'],
    ['what is no JSON', [1n, new Date(0), NaN], 100, '[1,"1970-01-01T00:00:00.000Z",null]'],
  ])('%s', (_title, args, limit, shown) => {
    expect(previewOf(args, limit)).toBe(shown)
    expect(lines('look', args, limit)[3]).toBe(`- arguments: ${shown}`)
    expect(lines('look', args, limit)).toHaveLength(5)
  })

  it('is the beginning of the canonical JSON, well formed, on one line, and counts the rest', () => {
    fc.assert(
      fc.property(json, fc.integer({ min: 1, max: 60 }), (value, limit) => {
        const whole = Array.from(escaped(canonical(value)))
        const shown = previewOf(value, limit)
        const rest = whole.length - limit
        expect(shown).toBe(rest > 0 ? `${whole.slice(0, limit).join('')}… (+${rest} more chars)` : whole.join(''))
        expect((shown as string & { isWellFormed(): boolean }).isWellFormed()).toBe(true)
        expect(shown).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u)
      }),
      { numRuns: 1_000 },
    )
  })

  it('orders keys as text, those that look like indices too, whatever the order in which an object has them', () => {
    expect(previewOf(JSON.parse('{"b":0,"10":1,"":2,"9":3,"0":4}'), 100)).toBe('{"":2,"0":4,"10":1,"9":3,"b":0}')
  })

  it.each([
    ['in what is shown', 0],
    ['behind it', 65_534],
  ])('counts a pair of surrogates once: %s', (_title, before) => {
    const text = `${'x'.repeat(before)}${'😀'.repeat(40_000)}`
    expect(previewOf([text, text], 1)).toBe(`[… (+${2 * (before + 40_002) + 2} more chars)`)
  })
})

describe('a reminder is known by its text', () => {
  it('whichever call it is about', () => {
    fc.assert(
      fc.property(
        json,
        fc.string({ unit: 'binary' }),
        fc.integer({ min: 2 }),
        fc.integer({ min: 1, max: 60 }),
        (args, tool, run, limit) => {
          expect(isReminder(detailed(tool, args, run, limit))).toBe(true)
        },
      ),
    )
    expect(isReminder(GENTLE)).toBe(true)
  })

  const whole = detailed('look', { at: 'a' }, 5, 500)
  it.each([
    ['nothing', ''],
    ['a quotation', `> ${GENTLE}`],
    ['one that goes on', `${GENTLE} Really.`],
    ['a detailed one that is quoted', `"${whole}"`],
    ['a detailed one that goes on', `${whole}\nWhat does that mean?`],
    ['a detailed one that goes on in its line', `${whole} Please.`],
    ['its heading alone', whole.slice(0, whole.indexOf('\n'))],
    ['one whose heading goes on', whole.replace('\n', ' Yes.\n')],
    ['one without a number', whole.replace('calls: 5', 'calls: five')],
    ['one without its tool', whole.replace('- tool: ', '')],
    ['one without its arguments', whole.replace('- arguments: ', '')],
    ['one with a line more', whole.replace('- tool', '- note: x\n- tool')],
    ['one that ends early', whole.slice(0, whole.lastIndexOf('\n'))],
  ])('%s is none', (_title, text) => {
    expect(isReminder(text)).toBe(false)
  })
})

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`
}

function escaped(text: string): string {
  return text.replaceAll(/[\u007f-\u009f\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
