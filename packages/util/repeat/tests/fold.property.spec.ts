import { createRepeatTracker, isReminder, remindIn, type Reading, type RepeatConfig } from '@loopguard/repeat'
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { json } from './json.ts'

// A busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 })

type Message = Reading & { readonly id?: number }

const read = (message: Message): Reading => message
const make = (text: string): Message => ({ user: text })
const isTold = ({ user }: Message): boolean => user !== undefined && isReminder(user)

const args = fc.oneof({ arbitrary: fc.constantFrom({}, { a: 1 }, { b: [2], a: 1 }), weight: 8 }, { arbitrary: json, weight: 1 })
const calls = fc.array(fc.record({ name: fc.constantFrom('look', 'look', 'look', 'note_a'), args }), { minLength: 1, maxLength: 4 })
/** What a conversation is made of: steps with their results in one message or in one each, words of the user and of the model. */
const part: fc.Arbitrary<Message[]> = fc.oneof(
  { arbitrary: fc.tuple(calls, fc.boolean()).map(([made, one]) => [{ calls: made }, ...answers(one ? 1 : made.length)]), weight: 8 },
  { arbitrary: calls.map((made) => [...made.map((each) => ({ calls: [each] })), ...answers(made.length)]), weight: 2 },
  { arbitrary: fc.string({ maxLength: 5 }).map((user) => [{ user }]), weight: 1 },
  { arbitrary: fc.nat().map((id) => [{ id }]), weight: 2 },
)
const conversation = fc.array(part, { maxLength: 25 })
const config: fc.Arbitrary<RepeatConfig> = fc
  .uniqueArray(fc.integer({ min: 2, max: 7 }), { minLength: 1, maxLength: 4 })
  .map((thresholds) => ({ thresholds, exclude: ['note_*'] }))

function answers(count: number): Message[] {
  return Array.from({ length: count }, () => ({ results: true }))
}

it('says what a tracker says of the same trace, behind the last result of each step', () => {
  fc.assert(
    fc.property(conversation, config, (parts, settings) => {
      const tracker = createRepeatTracker(settings)
      const agent = {}
      const expected = parts.flatMap((messages) => {
        if (messages.some(({ user }) => user !== undefined)) tracker.reset(agent)
        const due = messages.flatMap(({ calls: made = [] }) => made.flatMap((each) => tracker.observe(agent, each.name, each.args) ?? []))
        return [...messages, ...due.map(make)]
      })
      expect(remindIn(settings, parts.flat(), read, make)).toEqual(expected)
    }),
    { numRuns: 500 },
  )
})

it('is idempotent, leaves its input alone, and does not care which reminders it is given', () => {
  fc.assert(
    fc.property(conversation, config, fc.infiniteStream(fc.nat(9)), (parts, settings, stream) => {
      const messages = Object.freeze(parts.flat())
      const folded = Object.freeze(remindIn(settings, messages, read, make))
      expect(remindIn(settings, folded, read, make)).toEqual(folded)
      expect(remindIn({ ...settings }, folded, read, make)).toEqual(folded)
      const strewn = folded.flatMap((message) => {
        const whim = stream.next().value ?? 9
        if (isTold(message)) return whim < 5 ? [] : [message]
        return whim > 0 ? [message] : [message, ...folded.filter(isTold).slice(0, 1)]
      })
      expect(remindIn(settings, strewn, read, make)).toEqual(folded)
    }),
    { numRuns: 300 },
  )
})

it('each request begins with the one before it, folded in one go or as the list grows', () => {
  fc.assert(
    fc.property(conversation, config, fc.boolean(), (parts, settings, keeps) => {
      let list: Message[] = []
      let before: Message[] = []
      for (const messages of parts) {
        list = [...(keeps ? before : list), ...messages]
        const folded = remindIn(settings, list, read, make)
        expect(folded.slice(0, before.length)).toEqual(before)
        expect(folded).toEqual(remindIn({ ...settings }, list, read, make))
        before = folded
      }
    }),
    { numRuns: 200 },
  )
})
