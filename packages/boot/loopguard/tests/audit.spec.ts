import { describe, expect, it } from 'vitest'
import { audit, type AuditOptions } from '../src/audit/audit.ts'
import type { Trail } from '../src/audit/trail.ts'

/** A letter for each call, capitals fail; a digit behind it is its result. Words are steps, `|` is the user. */
function trailOf(drawn: string): Trail {
  let calls = 0
  return drawn.split(' ').flatMap((word, step): Trail => {
    if (word === '|') return ['user' as const]
    return [...word.matchAll(/([a-zA-Z])(\d*)/g)].map(([, letter = '', result = '']) => ({
      turn: 1,
      step,
      callId: `${++calls}`,
      name: letter.toLowerCase(),
      arguments: '{"a":1}',
      outcome: { isError: /[A-Z]/.test(letter), text: `result ${'zero one two'.split(' ')[Number(result)]}` },
    }))
  })
}

const audited = (drawn: string, options: AuditOptions = {}) => audit('one', trailOf(drawn), options)
const said = (drawn: string, options?: AuditOptions): string[] =>
  audited(drawn, options).findings.map(({ guard, callId, count, callsAfter }) => `${guard} ${callId}: ${count} +${callsAfter}`)

describe('runs without news', () => {
  const rules: AuditOptions = { guards: ['no-news-run'] }

  it.each([
    ['five in a row that repeat call and result', '| a b a b a b a b', ['no-news-run 7: 5 +1']],
    ['and ten', '| a b a b a b a b a b a b', ['no-news-run 7: 5 +5', 'no-news-run 12: 10 +0']],
    ['not of one call alone', '| a b a a a a a a a', []],
    ['of one call and then another: once there are two', '| a b a a a a a b a', ['no-news-run 8: 6 +1']],
    ['a new result ends them', '| a b a b a b1 a b a b a', ['no-news-run 11: 5 +0']],
    ['a result that came before does not', '| a b b1 a b b1 a b', ['no-news-run 8: 5 +0']],
    ['a user starts afresh', '| a b | a b a b a b a', ['no-news-run 9: 5 +0']],
    ['each run has its own thresholds', '| a b a b a b a c a b a b a', ['no-news-run 7: 5 +0', 'no-news-run 13: 5 +0']],
    ['each run has its own distinct calls', '| a b a b c a a a a a', []],
  ])('%s', (_title, drawn, expected) => {
    expect(said(drawn, rules)).toEqual(expected)
  })

  it('do not see tools that are left out', () => {
    expect(said('| a b c a b c1 a b c2 a', { ...rules, exclude: ['c'] })).toEqual(['no-news-run 10: 5 +0'])
  })
})

describe('numbers', () => {
  it('count the calls that were equal to the one before, and what the gate suppressed', () => {
    expect(audited('| a a1 a2 a a b b | b', { results: 'unchanged' })).toMatchObject({ calls: 8, repeatedCalls: 5, suppressedByResults: 2 })
    expect(audited('| a a1 a2 a a', {})).toMatchObject({ repeatedCalls: 4, suppressedByResults: 0 })
  })

  it('a call that is left out is no repetition, and ends none', () => {
    expect(audited('| a x a x x a', { exclude: ['x'] })).toMatchObject({
      repeatedCalls: 2,
      findings: [{ callId: '6', count: 3, firstCallId: '1' }],
    })
  })

  it('of a series that went on to another error are those of the series', () => {
    expect(said('| A x A x A x A1 x A1 x A1')).toEqual(['repeated-failure-reminder 5: 3 +0', 'repeated-failure-reminder 11: 3 +0'])
    expect(said('| A x A x A x A', { guards: ['repeated-failure-reminder'] })).toEqual(['repeated-failure-reminder 5: 3 +1'])
    expect(said('| A x A x a x A x A x A x A', { guards: ['repeated-failure-reminder'] })).toEqual(['repeated-failure-reminder 11: 3 +1'])
  })

  it('the calls of one step are one step', () => {
    expect(said('| A x A x AAA')).toEqual(['repeat-tool-reminder 7: 3 +0', 'no-news-run 7: 5 +0'])
    expect(said('| A x A x A A A').slice(0, 2)).toEqual(['repeated-failure-reminder 5: 3 +2', 'repeat-tool-reminder 7: 3 +0'])
  })
})

describe('the picture', () => {
  it.each([
    ['small when the result is the one before', '| a a a1 a1 a', '|AaA^aA^'],
    ['marks failures and where a guard acted, not runs without news', '| A x A x A x A', '|A!Ba!ba!^ba!'],
    ['shows the user wherever he spoke', '| a | | b', '|A||B'],
    ['nothing at all', '|', '|'],
  ])('%s', (_title, drawn, picture) => {
    expect(audited(drawn).picture).toBe(picture)
  })

  it('has a letter for some fifty calls, and marks for more', () => {
    const trail = Array.from({ length: 60 }, (_, index) =>
      [0, 1].map(() => ({
        turn: 1,
        step: index,
        callId: '1',
        name: `tool ${index}`,
        arguments: '',
        outcome: { isError: false, text: '' },
      })),
    ).flat()
    const { picture } = audit('one', trail, {})
    expect(picture).toMatch(/^AaBb.*Zz/)
    expect(picture.endsWith('*·')).toBe(true)
    expect(new Set(Array.from(picture)).size).toBeGreaterThan(90)
  })
})

it('arguments that are no JSON are text, and an error is cut where no character is', () => {
  const call = { turn: 1, step: 1, callId: '1', name: 'a', arguments: '{"a":', outcome: { isError: true, text: `${'x'.repeat(199)}😀` } }
  const { findings } = audit('one', ['user', call, call, call], {})
  expect(findings).toMatchObject([{ guard: 'repeat-tool-reminder', error: 'x'.repeat(199) }])
})
