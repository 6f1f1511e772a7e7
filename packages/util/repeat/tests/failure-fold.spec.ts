import { createFailureFold, createReminderFold, isReminder, type Outcome, type Reading } from '@loopguard/repeat'
import { expect, it, onTestFinished, vi } from 'vitest'

interface Message {
  readonly text?: string
  readonly calls?: Reading['calls']
  readonly results?: Reading['results']
}
type Answered = Outcome & { id?: string }

const read = ({ text, calls, results }: Message): Reading => ({ user: text, calls, results })
const make = (text: string): Message => ({ text })
const failed = (text = 'no such file'): Answered => ({ isError: true, text })
const look = { name: 'look', args: { path: 'a' } }
const step = (result: Answered | boolean, call: object = look): Message[] => [
  { calls: [call as typeof look] },
  { results: typeof result === 'boolean' ? result : [result] },
]
const other = step({ isError: false, text: 'done' }, { name: 'note', args: {} })
const thrice = [step(failed()), other, step(failed()), other, step(failed())].flat()
const told = (messages: Message[]): number[] => messages.flatMap(({ text = '' }, index) => (isReminder(text) ? [index] : []))

it('reminds after the third failure of one call with one error, with others in between, and is idempotent', () => {
  const fold = createFailureFold('guards-here', {}, {}, read, make)
  const list = fold(thrice)
  expect(told(list)).toEqual([thrice.length])
  expect(list.at(-1)?.text).toMatch(/^This call has failed 3 times with the same error/)
  expect(fold(list)).toEqual(list)
  expect(fold([...thrice, ...other]).slice(0, list.length)).toEqual(list)
})

it('counts neither another error, nor a success, nor a call whose result is not told, and begins anew with a message of the user', () => {
  const fold = createFailureFold('guards-here', {}, {}, read, make)
  expect(told(fold([...step(failed()), ...step(failed('denied')), ...step(failed())]))).toEqual([])
  expect(told(fold([...step(failed()), ...step(failed()), ...step({ isError: false, text: 'a' }), ...step(failed())]))).toEqual([])
  expect(told(fold([...step(true), ...step(true), ...step(true)]))).toEqual([])
  expect(told(fold([...step(failed()), ...step(failed()), { text: 'go on' }, ...step(failed())]))).toEqual([])
})

it('leaves the reminders of repeated calls where they are, and is quiet about what they speak of', () => {
  const config = { thresholds: [2] }
  const calls = createReminderFold('guards-here', config, read, make)
  const fold = createFailureFold('guards-here', { thresholds: [2, 4] }, { quiet: config }, read, make)
  const run = [...step(failed()), ...step(failed())]
  const once = fold(calls(run))
  expect(told(once)).toEqual([4])
  const both = fold(calls([...run, ...other, ...step(failed()), ...other, ...step(failed())]))
  expect(told(both)).toEqual([4, 13])
  expect(fold(calls(both))).toEqual(both)
})

it.each([
  ['by their ids, in any order', [failed('b'), { ...failed('a') }], ['2', '1']],
  ['in the order of the calls where there is none', [failed('a'), failed('b')], [undefined, undefined]],
] as const)('joins results and calls %s', (_how, [first, second], [one, two]) => {
  const fold = createFailureFold('guards-here', { thresholds: [2] }, {}, read, make)
  const calls = ['1', '2'].map((id) => ({ name: id, args: {}, id }))
  const batch: Message = { calls }
  const results: Message = {
    results: [
      { ...first, ...(one && { id: one }) },
      { ...second, ...(two && { id: two }) },
    ],
  }
  const texts = fold([batch, results, batch, results]).flatMap(({ text }) => text ?? [])
  expect(texts.map((text) => /- tool: (.)[^]*- error: (.)/.exec(text)?.slice(1).join(''))).toEqual(['1a', '2b'])
})

it('refuses a faulty configuration at once, and lets through what it cannot read, with one warning', () => {
  const refused = expect.objectContaining({ code: 'REPEATED_FAILURE_REMINDER_CONFIG' }) as Error
  expect(() => createFailureFold('guards-here', { thresholds: [1] }, {}, read, make)).toThrow(refused)
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  onTestFinished(() => warn.mockRestore())
  const fold = createFailureFold('guards-here', {}, {}, read, make)
  const messages = [null as unknown as Message]
  expect([fold(messages), fold(messages)]).toEqual([messages, messages])
  expect(warn.mock.calls).toEqual([[expect.stringMatching(/^guards-here: .*no reminder of repeated failures/), expect.any(TypeError)]])
})
