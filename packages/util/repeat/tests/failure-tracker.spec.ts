import {
  callIdentity,
  createFailureTracker,
  type FailureConfig,
  type FailureTracker,
  type FailureTrackerOptions,
  isReminder,
  type Outcome,
} from '@loopguard/repeat'
import { describe, expect, it } from 'vitest'

const ok: Outcome = { isError: false, text: 'fine' }
const failed = (text = 'no such file'): Outcome => ({ isError: true, text })

/**
 * Plays a trace: a small letter is a call that succeeds, a capital one that fails, with a digit the error of that number; `U` is the user.
 * Returns the calls, counted from 1, after which a reminder is due.
 */
function spoken(trace: string, config: FailureConfig = {}, options: FailureTrackerOptions = {}): number[] {
  const tracker = createFailureTracker(config, options)
  const agent = {}
  const said: number[] = []
  let calls = 0
  for (const word of trace.split(' ')) {
    if (word === 'U') tracker.reset(agent)
    else if (tracker.observe(agent, word[0]?.toLowerCase() ?? '', {}, outcomeOf(word)) !== undefined) said.push(++calls)
    else calls++
  }
  return said
}

function outcomeOf(word: string): Outcome {
  if (/^[a-z]/.test(word)) return ok
  return failed(`broken${'abcdefghij'[Number(word[1] ?? 0)]}`)
}

describe('failures of one call', () => {
  it.each([
    ['at 3 and 5, also with other calls between', 'A x A y A z A A A', [5, 8]],
    ['then silence', 'A A A A A A A A A', [3, 5]],
    ['none after a success of that call', 'A A a A A', []],
    ['none when the error is another each time', 'A1 A2 A3 A1 A2 A3', []],
    ['another error starts at 1', 'A1 A1 A2 A1 A1 A1', [6]],
    ['each call has a count of its own', 'A B A B A B', [5, 6]],
    ['a success of another call forgets nothing', 'A b A b A', [5]],
    ['the user starts all afresh', 'A A U A A', []],
  ])('%s', (_title, trace, calls) => {
    expect(spoken(trace)).toEqual(calls)
  })

  it('are those of the same arguments, in whatever order of keys', () => {
    const tracker = createFailureTracker({ thresholds: [2] })
    const agent = {}
    const said = [
      { a: 1, b: 2 },
      { a: 1, b: 3 },
      { b: 2, a: 1 },
    ].map((args) => tracker.observe(agent, 'look', args, failed()) !== undefined)
    expect(said).toEqual([false, false, true])
  })

  it('are those of one agent', () => {
    const tracker = createFailureTracker({ thresholds: [2] })
    const [one, two] = [{}, {}]
    expect([one, two, one, two].map((agent) => tracker.observe(agent, 'look', {}, failed()) !== undefined)).toEqual([
      false,
      false,
      true,
      true,
    ])
  })

  it('are the same when the errors differ in what is volatile, unless that is not masked', () => {
    const said = (config: FailureConfig): boolean[] => {
      const tracker = createFailureTracker({ thresholds: [2], ...config })
      const agent = {}
      return ['line 3', 'line 4', 'line 4'].map((text) => tracker.observe(agent, 'look', {}, failed(text)) !== undefined)
    }
    expect(said({})).toEqual([false, true, false])
    expect(said({ maskVolatile: false })).toEqual([false, false, true])
  })

  it('of a tool that is left out are not seen, and neither are its successes', () => {
    expect(spoken('A B A B A B', { exclude: ['b'] })).toEqual([5])
    expect(spoken('A B A B A B', { include: ['b'] })).toEqual([6])
  })

  it('may be told by the text of a result that is no error', () => {
    const tracker = createFailureTracker({ thresholds: [2], errors: '^\\[exit code: ' })
    const agent = {}
    const outcomes = ['1 failed\n[exit code: 1]', 'all well', '2 failed\n[exit code: 1]', '3 failed\n[exit code: 1]']
    const said = outcomes.map((text) => tracker.observe(agent, 'bash', {}, { isError: false, text }) !== undefined)
    expect(said).toEqual([false, false, false, true])
  })

  it('that cannot be told apart are a fault of the caller, who is told', () => {
    const tracker = createFailureTracker()
    const circle: unknown[] = []
    circle.push(circle)
    const deep = Array.from({ length: 2_000 }).reduce<unknown>((inner) => [inner], circle)
    expect(() => tracker.observe({}, 'look', deep, failed())).toThrow('the arguments hold themselves')
  })

  it('of sixty-four calls are remembered, the one that failed longest ago goes', () => {
    const tracker = createFailureTracker({ thresholds: [2] })
    const agent = {}
    const fail = (name: string): boolean => tracker.observe(agent, name, {}, failed()) !== undefined
    for (let call = 0; call < 64; call++) fail(`tool ${call}`)
    expect(tracker.save(agent)?.failures).toHaveLength(64)
    expect(fail('tool 0')).toBe(true)
    fail('one more')
    expect(tracker.save(agent)?.failures).toHaveLength(64)
    expect(fail('tool 1')).toBe(false)
    expect(fail('tool 0')).toBe(false)
    expect(tracker.save(agent)?.failures.at(-1)).toMatchObject({ identity: callIdentity('tool 0', {}), count: 3 })
  })
})

describe('beside a reminder of repeated calls', () => {
  it.each([
    ['silent while the run is at or above its first threshold', 'A A A A A A', {}, []],
    ['not silent while it is below', 'A x A x A A', {}, [5]],
    ['the threshold that passed in silence is not made up for', 'A A A x A x A', {}, [7]],
    ['not silent for calls that it does not count', 'A A A A A', { exclude: ['a'] }, [3, 5]],
    ['not silent when its first threshold is later', 'A A A A A', { thresholds: [5, 4] }, [3]],
    ['a call that it does not see ends no run', 'A x A x A', { exclude: ['x'] }, []],
    ['a run of failures with equal errors', 'A A A', { results: 'unchanged' as const }, []],
    ['a user ends the run too', 'A A U A A x A', {}, [6]],
  ])('%s', (_title, trace, quiet, calls) => {
    expect(spoken(trace, {}, { quiet })).toEqual(calls)
  })

  it('a message of the user ends the run that is counted here too', () => {
    expect(spoken('A A U A A', { thresholds: [2] }, { quiet: {} })).toEqual([2, 4])
  })

  it('a run that begins anew with each result is none', () => {
    const tracker = createFailureTracker({ errors: 'no' }, { quiet: { results: 'unchanged' } })
    const agent = {}
    const said = ['no 1', 'no 2', 'no 3'].map((text) => tracker.observe(agent, 'look', {}, { isError: false, text }) !== undefined)
    expect(said).toEqual([false, false, true])
  })

  it('a function is asked at each call, may name several, and a run belongs to the object', () => {
    let quiet: object[] = []
    const tracker = createFailureTracker({ thresholds: [2, 3, 4, 5, 6, 7] }, { quiet: () => quiet })
    const agent = {}
    const fail = (): boolean => tracker.observe(agent, 'look', {}, failed()) !== undefined
    expect([fail(), fail()]).toEqual([false, true])
    quiet = [{ thresholds: [9] }, { thresholds: [2] }]
    expect([fail(), fail()]).toEqual([true, false])
    quiet = [{ thresholds: [2] }, { thresholds: [9] }]
    expect([fail(), fail()]).toEqual([true, false])
    quiet = []
    expect(fail()).toBe(true)
  })

  describe('in a step whose calls are known', () => {
    /** One step after the other, each a word; the letters of a word are its calls, capitals fail. */
    function spokenIn(trace: string, config: FailureConfig = {}): string {
      const tracker: FailureTracker = createFailureTracker(config, { quiet: {} })
      const agent = {}
      return trace
        .split(' ')
        .map((word) => {
          const step = { calls: Array.from(word, (letter) => ({ name: letter.toLowerCase(), args: {} })) }
          return Array.from(word, (letter) => {
            const said = tracker.observe(agent, letter.toLowerCase(), {}, /[A-Z]/.test(letter) ? failed() : ok, step)
            return said === undefined ? letter : `${letter}!`
          }).join('')
        })
        .join(' ')
    }

    it.each([
      ['one call a step', 'A x A x A', 'A x A x A!'],
      ['a call that the run of the same step will come to', 'A x A x AAA', 'A x A x AAA'],
      ['two that it will not', 'A x A x AA', 'A x A x A!A'],
      ['a call that stands there again, and may yet come to it', 'A A AxA AxA', 'A A AxA AxA'],
      ['others of the step', 'A x A x ABBB', 'A x A x A!BBB'],
    ])('%s', (_title, trace, said) => {
      expect(spokenIn(trace)).toBe(said)
    })

    it('a call of which the other has spoken in this step waits for another one', () => {
      expect(spokenIn('A A AxA', { thresholds: [4] })).toBe('A A AxA')
      expect(spokenIn('A A A xA', { thresholds: [4] })).toBe('A A A xA!')
    })
  })
})

describe('the text', () => {
  const textOf = (error: string, config: FailureConfig = {}, name = 'book_room', args: unknown = { room: 'B2', day: 'fri' }): string => {
    const tracker = createFailureTracker({ thresholds: [2], ...config })
    const agent = {}
    tracker.observe(agent, name, args, failed(error))
    return tracker.observe(agent, name, args, failed(error)) ?? ''
  }

  it('says what was called, what it came to and what to do, to the letter', () => {
    expect(textOf('the price is 375,\nbut 299 was paid'))
      .toBe(`This call has failed 2 times with the same error. What was done in between did not change that.
- tool: book_room
- arguments: {"day":"fri","room":"B2"}
- error: the price is 375,\\u000abut 299 was paid
Before making it again, find out what the error asks for; change the call or its cause, or say that you are blocked.`)
  })

  it('shows as much of arguments and error as it is told', () => {
    const lines = textOf('😀'.repeat(30), { argumentsPreviewChars: 8, errorPreviewChars: 5 }).split('\n')
    expect(lines.slice(2, 4)).toEqual(['- arguments: {"day":"… (+17 more chars)', `- error: ${'😀'.repeat(5)}… (+25 more chars)`])
    expect(textOf('x'.repeat(200)).split('\n')[3]).toBe(`- error: ${'x'.repeat(200)}`)
    expect(textOf('x'.repeat(201)).split('\n')[3]).toBe(`- error: ${'x'.repeat(200)}… (+1 more chars)`)
  })

  it('is well-formed, on five lines, whatever the error holds', () => {
    const text = textOf('a\ud800\r\n\u2028b\0', {}, 'look\n- error: none')
    expect(text.split(/[\n\r\u2028]/)).toHaveLength(5)
    expect((text as string & { isWellFormed(): boolean }).isWellFormed()).toBe(true)
  })

  it('is known as a reminder, and by its whole', () => {
    const text = textOf('no')
    expect(isReminder(text)).toBe(true)
    const changed = [
      `> ${text}`,
      `${text} Really.`,
      `${text}\n`,
      text.replace('2 times', 'two times'),
      text.replace('- tool: ', ''),
      text.replace('- arguments: ', ''),
      text.replace('- error: ', ''),
      text.replace('did not', 'did'),
      text.slice(0, text.indexOf('\n')),
      text.slice(0, text.lastIndexOf('\n')),
    ]
    expect(changed.map(isReminder)).toEqual(changed.map(() => false))
  })
})

describe('what is saved', () => {
  const tracker = (): FailureTracker => createFailureTracker({}, { quiet: {} })

  it('is nothing before the first call, and digests and numbers after', () => {
    const [first, agent] = [tracker(), {}]
    expect(first.save(agent)).toBeUndefined()
    first.observe(agent, 'login', { password: 'secret' }, failed('wrong hunter2'))
    const saved = first.save(agent)
    expect(saved).toEqual({
      failures: [
        { identity: callIdentity('login', { password: 'secret' }), error: expect.stringMatching(/^[\da-f]{64}$/) as string, count: 1 },
      ],
      run: { identity: callIdentity('login', { password: 'secret' }), length: 1 },
    })
  })

  it('goes on where it was loaded: failures and run', () => {
    const fail = (of: FailureTracker, agent: object, name = 'a'): boolean => of.observe(agent, name, {}, failed()) !== undefined
    const [first, agent] = [tracker(), {}]
    for (const name of ['a', 'b', 'a']) fail(first, agent, name)
    const saved = JSON.parse(JSON.stringify(first.save(agent))) as never
    const [second, third] = [tracker(), tracker()]
    second.load(agent, saved)
    third.load(agent, saved)
    expect([fail(second, agent, 'b'), fail(second, agent)]).toEqual([false, true])
    expect([fail(third, agent), fail(third, agent), fail(third, agent)]).toEqual([true, false, false])
    expect(second.save(agent)?.failures.map(({ count }) => count)).toEqual([2, 3])
  })

  it('has no run where no other reminder is, and needs none', () => {
    const [lone, agent] = [createFailureTracker(), {}]
    lone.observe(agent, 'a', {}, failed())
    const saved = lone.save(agent)
    expect(Object.keys(saved ?? {})).toEqual(['failures'])
    const loaded = tracker()
    loaded.observe(agent, 'x', {}, ok)
    loaded.load(agent, saved as never)
    expect(loaded.save(agent)).toEqual(saved)
    lone.load(agent, { ...saved, run: { identity: 'no chain' } } as never)
    expect(lone.save(agent)).toEqual(saved)
  })

  it('leaves what it knows of one agent as it is when another is saved', () => {
    const [one, agent] = [tracker(), {}]
    one.observe(agent, 'a', {}, failed())
    const saved = one.save(agent)
    for (const failure of saved?.failures ?? []) failure.count = 99
    expect(one.save(agent)?.failures[0]?.count).toBe(1)
  })

  const identity = callIdentity('a', {})
  const good = { identity, error: identity, count: 1 }
  it.each([
    ['nothing', undefined, '`failures` of saved failures must be a list, got undefined'],
    ['a list', [good], '`failures` of saved failures must be a list, got undefined'],
    ['failures that are no list', { failures: {} }, '`failures` of saved failures must be a list, got {}'],
    [
      'an identity that is none',
      { failures: [{ ...good, identity: 'a' }] },
      '`identity` of saved failures must be 64 hexadecimal digits, got "a"',
    ],
    ['an error that is none', { failures: [{ ...good, error: 7 }] }, '`error` of saved failures must be 64 hexadecimal digits, got 7'],
    ['a count of zero', { failures: [{ ...good, count: 0 }] }, '`count` of saved failures must be an integer >= 1, got 0'],
    ['a failure that is null', { failures: [null] }, '`identity` of saved failures must be 64 hexadecimal digits, got undefined'],
    ['a run that is none', { failures: [], run: { identity } }, '`length` of a saved chain must be an integer >= 1, got undefined'],
  ])('is refused when it is %s', (_title, saved, message) => {
    expect(() => tracker().load({}, saved as never)).toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'REPEAT_BAD_CHAIN', message: expect.stringContaining(message) as string }),
    )
  })
})

describe('the configuration', () => {
  it('is refused with every fault at once', () => {
    const faulty = {
      thresholds: [],
      errors: '(',
      maskVolatile: 'no',
      errorPreviewChars: 0,
      argumentsPreviewChars: 1.5,
      include: 'x',
      treshold: 3,
    }
    expect(() => createFailureTracker(faulty as never)).toThrow(
      expect.objectContaining({
        name: 'TypeError',
        code: 'REPEATED_FAILURE_REMINDER_CONFIG',
        message: [
          '`thresholds` must not be empty: give at least one integer >= 2, or leave the key out to get its default',
          '`errors` must be a regular expression, got "(": Invalid regular expression: /(/m: Unterminated group',
          '`maskVolatile` must be true or false, got "no"',
          '`errorPreviewChars` must be an integer >= 1, got 0',
          '`argumentsPreviewChars` must be an integer >= 1, got 1.5',
          '`include` must be a list of patterns, got "x"',
          'unknown key `treshold` (with the value 3): the keys are `thresholds`, `include`, `exclude`, `argumentsPreviewChars`, `errorPreviewChars`, `maskVolatile`, `errors`',
        ]
          .map((fault) => `repeated-failure-reminder: ${fault}`)
          .join('\n'),
      }),
    )
  })

  it.each([
    [7, 'must be the text of a regular expression, got 7'],
    [' ', 'must not be empty or blank, got " "'],
    [null, 'must not be null'],
  ])('`errors` is refused when it is %j', (errors, words) => {
    expect(() => createFailureTracker({ errors } as never)).toThrow(`repeated-failure-reminder: \`errors\` ${words}`)
  })

  it('that of the other reminder is checked too', () => {
    expect(() => createFailureTracker({}, { quiet: { thresholds: [1] } })).toThrow(
      expect.objectContaining({ code: 'REPEAT_TOOL_REMINDER_CONFIG' }),
    )
  })
})
