import { createFailureTracker, isReminder, remindIn, type Reading, type RepeatConfig } from '@loopguard/repeat'
import { describe, expect, it } from 'vitest'

type Message = Reading & { readonly said?: string }

const call = (...names: string[]): Message => ({ calls: names.map((name) => ({ name, args: { at: name } })) })
const result: Message = Object.freeze({ results: true })
const user = (text = 'go'): Message => ({ user: text })
const words: Message = Object.freeze({ said: 'hm' })

const read = (message: Message): Reading => message
const make = (text: string): Message => ({ user: text })
const told = (messages: readonly Message[], config: RepeatConfig = {}): Message[] => remindIn(config, messages, read, make)

/** One letter a message: `u`ser, `c`alls, `r`esults, `!` a reminder, `-` anything else. */
function drawn(messages: readonly Message[]): string {
  const letterOf = ({ user: text, calls, results }: Message): string => {
    if (text !== undefined) return isReminder(text) ? '!' : 'u'
    if (calls !== undefined) return 'c'
    return results === true ? 'r' : '-'
  }
  return messages.map(letterOf).join('')
}

const step = (...names: string[]): Message[] => [call(...names), ...names.map(() => result)]
const steps = (count: number): Message[] => Array.from({ length: count }, () => step('a')).flat()

describe('where reminders stand', () => {
  it.each([
    ['at 3, 5 and 8, then silence', [user(), ...steps(10)], 'ucrcrcr!crcr!crcrcr!crcr'],
    ['after the last result of a batch', [user(), ...step('a', 'a', 'a', 'b')], 'ucrrrr!'],
    ['several at once, in the order of the calls', [user(), ...step('a', 'a', 'a', 'a', 'a')], 'ucrrrrr!!'],
    ['in front of what the model says next', [user(), ...steps(3), words], 'ucrcrcr!-'],
    ['in front of what the user says next, and the run is over', [user(), ...steps(3), user(), ...steps(2)], 'ucrcrcr!ucrcr'],
    ['nowhere while a step has no result', [user(), ...steps(2), call('a')], 'ucrcrc'],
    ['after results that come late', [user(), ...steps(2), call('a'), words, result, words], 'ucrcrc-r!-'],
    ['after calls that come one a message', [user(), call('a'), call('a'), call('a'), result, result, result], 'ucccrrr!'],
    ['nowhere when the user has spoken instead', [user(), ...steps(2), call('a'), user(), result], 'ucrcrcur'],
    ['nowhere in an empty list', [], ''],
    ['nowhere in a list of one', [call('a', 'a', 'a')], 'c'],
  ])('%s', (_title, messages, expected) => {
    expect(drawn(told(messages))).toBe(expected)
  })

  it('calls and results in one message: it answers itself', () => {
    const both = (name: string): Message => ({ ...call(name), ...result })
    const folded = told([user(), both('a'), both('a'), both('a'), both('b')])
    expect(folded.map(({ user: text = '' }) => isReminder(text))).toEqual([false, false, false, false, true, false])
  })

  it('results that come with words of the user end the run, and are the last of their step', () => {
    const both: Message = { ...result, ...user('and now?') }
    expect(told([user(), ...steps(2), call('a'), both, ...step('a')])).toHaveLength(9)
  })

  it('results that come with the text of a reminder stay, and end nothing', () => {
    const [, , , , , , , reminder] = told([user(), ...steps(3)])
    const both: Message = { ...result, ...reminder }
    expect(drawn(told([user(), call('a'), both, ...steps(2)]))).toBe('uc!crcr!')
  })
})

describe('reminders that are there already', () => {
  it('are taken out wherever they stand, and told anew', () => {
    const [reminder] = told(steps(3)).slice(-1) as [Message]
    const messy = [reminder, ...steps(1), reminder, call('a'), reminder, result, reminder, reminder, ...steps(1)]
    expect(drawn(told(messy))).toBe('crcrcr!')
    expect(told(told(messy))).toEqual(told(messy))
  })

  it('a user who quotes one has spoken', () => {
    const [reminder] = told(steps(3)).slice(-1) as [Message]
    expect(drawn(told([...steps(2), user(`What is "${reminder.user}"?`), ...steps(2)]))).toBe('crcrucrcr')
  })
})

it('arguments that cannot be read end the run, and are no reason to refuse the request', () => {
  const args = {
    get at(): never {
      throw new Error('not for you')
    },
  }
  const odd: Message = { calls: [{ name: 'a', args }] }
  expect(drawn(told([user(), ...steps(2), odd, result, ...steps(3)]))).toBe('ucrcrcrcrcrcr!')
})

it('a reminder of failures is no message of the user, and stays where it stands', () => {
  const tracker = createFailureTracker({ thresholds: [2] })
  const agent = {}
  const [, text = ''] = [1, 2].map(() => tracker.observe(agent, 'a', {}, { isError: true, text: 'no' }))
  const list = [user(), ...steps(2), user(text), ...steps(1)]
  expect(told(list).slice(0, list.length)).toEqual(list)
  expect(drawn(told(list))).toBe('ucrcr!cr!')
})

describe('what is remembered', () => {
  const counted = () => {
    const seen: Message[] = []
    const config = {}
    const reader = (message: Message): Reading => {
      seen.push(message)
      return message
    }
    return { seen, fold: (messages: readonly Message[]) => remindIn(config, messages, reader, make) }
  }

  it('a list that has grown is read where it is new', () => {
    const { seen, fold } = counted()
    const list = [user(), ...steps(3)]
    const first = fold(list)
    expect(drawn(first)).toBe('ucrcrcr!')
    const longer = [...list, ...steps(2)]
    expect(drawn(fold(longer))).toBe('ucrcrcr!crcr!')
    expect(seen).toHaveLength(longer.length)
    fold(longer)
    expect(seen).toHaveLength(longer.length)
    expect(first).toHaveLength(8)
  })

  it('so is one that a host keeps with its reminders in it', () => {
    const { seen, fold } = counted()
    let list: Message[] = fold([user(), ...steps(3)])
    for (let round = 0; round < 5; round++) list = fold([...list, ...steps(1)])
    expect(drawn(list)).toBe('ucrcrcr!crcr!crcrcr!')
    expect(seen).toHaveLength(list.length - 1)
  })

  it('conversations that begin with the same messages do not hear of each other', () => {
    const { seen, fold } = counted()
    const system: Message = { said: 'You are a tester.' }
    const [one, two] = [
      [system, ...steps(2)],
      [system, ...step('b'), ...step('b')],
    ]
    expect([fold(one), fold(two)].map(drawn)).toEqual(['-crcr', '-crcr'])
    const before = seen.length
    const more = { one: [...one, ...step('a')], two: [...two, ...step('b')] }
    expect([fold(more.one), fold(more.two), fold([...one, ...step('b')])].map(drawn)).toEqual(['-crcrcr!', '-crcrcr!', '-crcrcr'])
    expect(seen.length - before).toBe(2 + 2 + 7)
  })

  it('a list whose earlier part was exchanged is read anew', () => {
    const { fold } = counted()
    const [first, answer, ...rest] = steps(3)
    fold([first, answer, ...rest] as Message[])
    expect(drawn(fold([call('b'), answer, ...rest, ...steps(1)] as Message[]))).toBe('crcrcrcr!')
    expect(drawn(fold([...rest, ...steps(1)]))).toBe('crcrcr!')
  })

  it('another configuration, and another way to read, have nothing to do with it', () => {
    const list = [user(), ...steps(3)]
    expect(drawn(told(list))).toBe('ucrcrcr!')
    expect(drawn(told(list, { thresholds: [2] }))).toBe('ucrcr!cr')
    const config = {}
    expect(drawn(remindIn(config, list, read, make))).toBe('ucrcrcr!')
    expect(drawn(remindIn(config, list, () => ({}), make))).toBe('ucrcrcr')
  })

  it('reminders are made by the function that is given, and once', () => {
    const list = [user(), ...steps(3)]
    const config = {}
    const other = (text: string): Message => ({ user: text, said: 'other' })
    expect(remindIn(config, list, read, make).at(-1)).not.toHaveProperty('said')
    const [last] = remindIn(config, list, read, other).slice(-1)
    expect(last).toHaveProperty('said', 'other')
    expect(remindIn(config, [...list, ...steps(5)], read, other)[7]).toBe(last)
  })

  it('a fold in which reading has failed is not remembered', () => {
    const config = {}
    const list = [user(), ...steps(3)]
    let fails = false
    const reader = (message: Message): Reading => {
      if (fails && message === list.at(-1)) throw new Error('no more')
      return message
    }
    remindIn(config, list.slice(0, 3), reader, make)
    fails = true
    expect(() => remindIn(config, list, reader, make)).toThrow('no more')
    fails = false
    expect(drawn(remindIn(config, list, reader, make))).toBe('ucrcrcr!')
  })

  it('messages may be anything, text too', () => {
    const names = ['a', 'r', 'a', 'r', 'a', 'r']
    const fold = (): string[] =>
      remindIn<string>(
        {},
        names,
        (name) => (name === 'r' ? { results: true } : { calls: [{ name, args: {} }] }),
        () => '!',
      )
    expect([fold(), fold()]).toEqual([
      [...names, '!'],
      [...names, '!'],
    ])
  })
})
