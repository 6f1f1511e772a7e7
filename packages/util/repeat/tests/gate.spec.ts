import { type Chain, createRepeatTracker, isReminder, type Outcome, outcomeIdentity, remindIn, type Reading } from '@loopguard/repeat'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const unchanged = { results: 'unchanged' } as const
const ok = (text: string): Outcome => ({ isError: false, text })
const failed = (text: string): Outcome => ({ isError: true, text })

/** The lengths of the run after calls of one tool with these outcomes. */
function lengths(outcomes: readonly (Outcome | undefined)[], config: object = unchanged): number[] {
  const tracker = createRepeatTracker(config)
  const agent = {}
  return outcomes.map((outcome) => {
    tracker.observe(agent, 'look', {}, outcome)
    return tracker.save(agent)?.length ?? 0
  })
}

describe('results that are unchanged', () => {
  it('let a run grow, and one that changed starts it at 1', () => {
    expect(lengths(['a', 'a', 'b', 'b', 'b', 'a'].map(ok))).toEqual([1, 2, 1, 2, 3, 1])
  })

  it('are unchanged also when what is volatile differs', () => {
    expect(lengths(['in 0.51s', 'in 0.48s', 'in 1.2s'].map(ok))).toEqual([1, 2, 3])
    expect(lengths(['0/1 Running 4s', '0/1 Running 9s', '0/1 Running 13s'].map(ok))).toEqual([1, 1, 1])
    expect(lengths(['line 3', 'line 4'].map(failed))).toEqual([1, 2])
  })

  it('an error with the words of a success is another result', () => {
    expect(lengths([ok('a'), failed('a'), failed('a')])).toEqual([1, 1, 2])
  })

  it('a call without an outcome counts as under `any`, and so does the one after it', () => {
    expect(lengths([ok('a'), undefined, ok('b'), ok('b'), ok('a')])).toEqual([1, 2, 3, 4, 1])
  })

  it('do not matter under `any`, the default', () => {
    const outcomes = ['a', 'b', 'c'].map(ok)
    expect([lengths(outcomes, {}), lengths(outcomes, { results: 'any' })]).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ])
  })

  it('another call starts the run as ever, whatever it brings', () => {
    const tracker = createRepeatTracker(unchanged)
    const agent = {}
    const seen = ['a', 'b', 'b'].map((name) => {
      tracker.observe(agent, name, {}, ok('same'))
      return tracker.save(agent)?.length
    })
    expect(seen).toEqual([1, 1, 2])
  })

  it('bring the reminder when the run comes to a threshold', () => {
    const tracker = createRepeatTracker(unchanged)
    const agent = {}
    const said = ['a', 'a', 'b', 'b', 'b', 'b', 'b'].map((text) => tracker.observe(agent, 'look', {}, ok(text)) !== undefined)
    expect(said).toEqual([false, false, false, false, true, false, true])
  })
})

describe('a chain with a result', () => {
  it('goes on where it was loaded, and holds nothing that can be read', () => {
    const [before, after] = [createRepeatTracker(unchanged), createRepeatTracker(unchanged)]
    const [old, young] = [{}, {}]
    before.observe(old, 'login', { user: 'secret' }, ok('token hunter'))
    const saved = before.save(old) as Chain
    expect(saved).toEqual({ identity: expect.any(String) as string, length: 1, result: outcomeIdentity(ok('token hunter')) })
    expect(JSON.stringify(saved)).not.toMatch(/secret|hunter/)
    after.load(young, JSON.parse(JSON.stringify(saved)) as Chain)
    after.observe(young, 'login', { user: 'secret' }, ok('token hunter'))
    expect(after.save(young)?.length).toBe(2)
    after.load(young, saved)
    after.observe(young, 'login', { user: 'secret' }, ok('token other'))
    expect(after.save(young)?.length).toBe(1)
  })

  it('has no result under `any`, and may come without one', () => {
    const tracker = createRepeatTracker()
    const agent = {}
    tracker.observe(agent, 'look', {}, ok('a'))
    const saved = tracker.save(agent) as Chain
    expect(saved).not.toHaveProperty('result')
    const gated = createRepeatTracker(unchanged)
    gated.load(agent, saved)
    gated.observe(agent, 'look', {}, ok('b'))
    expect(gated.save(agent)?.length).toBe(2)
  })

  it.each([['text'], [7], [null], [outcomeIdentity(ok('a')).toUpperCase()], [`${outcomeIdentity(ok('a'))}0`]])(
    'is refused when the result is %j',
    (result) => {
      const tracker = createRepeatTracker(unchanged)
      const chain = { identity: outcomeIdentity(ok('x')), length: 2, result } as Chain
      expect(() => tracker.load({}, chain)).toThrow(
        expect.objectContaining({
          code: 'REPEAT_BAD_CHAIN',
          message: expect.stringContaining('`result` of a saved chain must be 64 hexadecimal digits, or left out, got') as string,
        }),
      )
    },
  )
})

type Message = Reading & { readonly id?: number }
const read = (message: Message): Reading => message
const make = (text: string): Message => ({ user: text })
const look = { name: 'look', args: {} }
const told = (messages: readonly Message[], config: object = unchanged): string =>
  remindIn(config, messages, read, make)
    .map(({ user, calls, results }) =>
      user !== undefined ? (isReminder(user) ? '!' : 'u') : calls ? 'c' : results !== undefined ? 'r' : '-',
    )
    .join('')

describe('the fold', () => {
  const step = (...texts: string[]): Message[] => [{ calls: texts.map(() => look) }, { results: texts.map(ok) }]

  it.each<[string, readonly Message[], string]>([
    ['equal results', [...step('a'), ...step('a'), ...step('a')], 'crcrcr!'],
    ['a result that changed', [...step('a'), ...step('a'), ...step('b'), ...step('b'), ...step('b')], 'crcrcrcrcr!'],
    ['results of a batch', [...step('a', 'a', 'b', 'b', 'b')], 'cr!'],
    ['a batch whose results change', [...step('a', 'b', 'a', 'b')], 'cr'],
    ['results that are not told', [{ calls: [look, look, look] }, { results: true }], 'cr!'],
    ['one result a message', [{ calls: [look, look, look] }, ...['a', 'a', 'a'].map((text) => ({ results: [ok(text)] }))], 'crrr!'],
    [
      'one result a message, that changes',
      [{ calls: [look, look, look] }, ...['a', 'b', 'a'].map((text) => ({ results: [ok(text)] }))],
      'crrr',
    ],
    [
      'a user between call and result',
      [...step('a'), ...step('a'), { calls: [look] }, { user: 'x' }, { results: [ok('a')] }, ...step('a'), ...step('a')],
      'crcrcurcrcr',
    ],
    ['calls and their results in one message', [0, 1, 2].map(() => ({ calls: [look], results: [ok('a')] })), 'ccc!'],
    ['more results than calls', [{ calls: [look] }, { results: ['a', 'a', 'a'].map(ok) }, ...step('a'), ...step('a')], 'crcrcr!'],
  ])('%s', (_title, messages, drawn) => {
    expect(told(messages)).toBe(drawn)
  })

  it('a step that is handed over before its last result has its reminder behind the last all the same', () => {
    const config = { ...unchanged }
    const list: Message[] = [{ calls: [look, look, look] }, { results: ['a', 'a', 'a'].map(ok) }]
    expect(told(list, config)).toBe('cr!')
    expect(told([...list, { results: true }], config)).toBe('crr!')
  })

  it('gives a result to the call that it names, in whatever order results come', () => {
    const calls = ['a', 'b', 'b', 'b'].map((name) => ({ name, args: {} }))
    const results = [3, 1, 0, 2].map((call) => ({ ...ok(call === 0 ? 'x' : 'y'), call }))
    expect(told([{ calls }, { results }])).toBe('cr!')
    expect(told([{ calls }, { results: results.map((each) => (each.call === 2 ? { ...each, text: 'z' } : each)) }])).toBe('cr')
  })

  it('says what a tracker says of the same trace, as the list grows or in one go, and is idempotent', () => {
    const call = fc.record({ name: fc.constantFrom('look', 'look', 'seek'), text: fc.constantFrom('a', 'a', 'a', 'b') })
    const part = fc.oneof(
      { arbitrary: fc.tuple(fc.array(call, { minLength: 1, maxLength: 4 }), fc.constantFrom('one', 'each', 'mixed')), weight: 8 },
      { arbitrary: fc.constant('user' as const), weight: 1 },
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        const tracker = createRepeatTracker(unchanged)
        const agent = {}
        const config = { ...unchanged }
        let list: Message[] = []
        const expected: Message[] = []
        for (const each of parts) {
          let messages: Message[]
          let due: string[] = []
          if (each === 'user') {
            tracker.reset(agent)
            messages = [{ user: 'go' }]
          } else {
            const [made, how] = each
            const calls = made.map(({ name }) => ({ name, args: {} }))
            const results = made.map(({ text }, index) => ({ ...ok(text), ...(how === 'mixed' && { call: index }) }))
            due = made.flatMap(({ name, text }) => tracker.observe(agent, name, {}, ok(text)) ?? [])
            messages = [
              { calls },
              ...(how === 'each'
                ? results.map((result) => ({ results: [result] }))
                : [{ results: how === 'mixed' ? results.toReversed() : results }]),
            ]
          }
          expected.push(...messages, ...due.map(make))
          list = [...list, ...messages]
          expect(remindIn(config, list, read, make)).toEqual(expected)
        }
        const folded = remindIn({ ...unchanged }, list, read, make)
        expect(folded).toEqual(expected)
        expect(remindIn({ ...unchanged }, folded, read, make)).toEqual(folded)
      }),
      { numRuns: 300 },
    )
  })
})
