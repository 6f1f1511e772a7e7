import { createReminderFold, type Reading, remindIn } from '@loopguard/repeat'
import { expect, it, onTestFinished, vi } from 'vitest'

interface Message {
  readonly text?: string
  readonly calls?: Reading['calls']
  readonly results?: boolean
}

const read = ({ text, calls, results }: Message): Reading => ({ user: text, calls, results })
const make = (text: string): Message => ({ text })
const step: Message[] = [{ calls: [{ name: 'look', args: {} }] }, { results: true }]

function watchWarnings() {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  onTestFinished(() => warn.mockRestore())
  return warn
}

it('is remindIn with everything but the messages given', () => {
  const warn = watchWarnings()
  const messages = [...step, ...step]
  const told = createReminderFold('guards-here', { thresholds: [2] }, read, make)(messages)
  expect(told).toEqual(remindIn({ thresholds: [2] }, messages, read, make))
  expect(told).toHaveLength(5)
  expect(warn).not.toHaveBeenCalled()
})

it('refuses a faulty configuration before there is a message', () => {
  const faulty = { thresholds: [1] }
  expect(() => createReminderFold('guards-here', faulty, read, make)).toThrow(
    expect.objectContaining({ code: 'REPEAT_TOOL_REMINDER_CONFIG' }) as Error,
  )
})

it('lets messages through that it cannot read, the same list, and warns once of that', () => {
  const warn = watchWarnings()
  const fold = createReminderFold('guards-here', {}, read, make)
  const messages = [null as unknown as Message]
  expect(fold(messages)).toBe(messages)
  expect(fold(messages)).toBe(messages)
  expect(warn.mock.calls).toEqual([[expect.stringMatching(/^guards-here: .* no reminder/), expect.any(TypeError)]])
})

it('reminds again as soon as it can read the messages', () => {
  watchWarnings()
  const fold = createReminderFold('guards-here', { thresholds: [2] }, read, make)
  fold([null as unknown as Message])
  expect(fold([...step, ...step])).toHaveLength(5)
})
