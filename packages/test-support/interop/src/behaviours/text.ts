import { expect } from 'vitest'
import type { Call, Message } from '../host.ts'
import { A, type Behaviour, remindersOf, type Stage, times, withReminder } from '../stage.ts'
import { textOf } from '../transcript.ts'

const GENTLE =
  'You are repeating the exact same tool call with identical arguments. Carefully analyze the previous result before calling again: ' +
  'if the task is not complete, try a different approach or different arguments instead of repeating the call.'

/** The message on the last of `count` calls. */
async function reminderAfter(stage: Stage, count: number, call: Call): Promise<Message> {
  const agent = await stage.host.agent(`after-${count}`)
  await remindersOf(stage.host, agent, times(count - 1, call))
  const [message] = (await stage.host.call(call, { agent })).additionalContexts ?? []
  if (message === undefined) throw new Error(`no reminder on call ${count}`)
  return message
}

function saying(words: string): Call {
  return { name: 'look', arguments: { words } }
}

export const text: readonly Behaviour[] = [
  {
    id: 'gentle-text',
    guard: 'repeat-tool-reminder',
    says: 'sends the gentle text to the letter, as a user message with the plugin as its source',
    async run(stage) {
      await withReminder(stage)
      const message = await reminderAfter(stage, 3, A)
      expect(message.role).toBe('user')
      expect(message.content).toEqual([{ type: 'text', text: GENTLE }])
      expect(message.source).toMatchObject({ kind: 'plugin', plugin: 'repeat-tool-reminder' })
      expect(Object.isFrozen(message.content[0])).toBe(true)
    },
  },
  {
    id: 'source',
    guard: 'repeat-tool-reminder',
    says: 'puts nothing but kind and plugin into the source of its message',
    async run(stage) {
      await withReminder(stage)
      expect((await reminderAfter(stage, 3, A)).source).toEqual({ kind: 'plugin', plugin: 'repeat-tool-reminder' })
    },
  },
  {
    id: 'detailed-text',
    guard: 'repeat-tool-reminder',
    says: 'names tool, number of calls and sorted arguments in its later texts',
    async run(stage) {
      await withReminder(stage)
      const message = await reminderAfter(stage, 5, { name: 'look', arguments: { b: [1, { d: 2, c: 3 }], a: 'x' } })
      expect(textOf(message.content).split('\n')).toEqual([
        expect.any(String),
        '- tool: look',
        '- consecutive_calls: 5',
        '- arguments: {"a":"x","b":[1,{"c":3,"d":2}]}',
        expect.any(String),
      ])
    },
  },
  {
    id: 'preview',
    guard: 'repeat-tool-reminder',
    says: 'cuts the preview of long arguments and says how much it left out',
    async run(stage) {
      await withReminder(stage, { argumentsPreviewChars: 20, thresholds: [2, 3] })
      const message = await reminderAfter(stage, 3, saying('a'.repeat(100)))
      expect(textOf(message.content)).toContain('\n- arguments: {"words":"aaaaaaaaaa… (+92 more chars)\n')
    },
  },
  {
    id: 'preview-unicode',
    guard: 'repeat-tool-reminder',
    says: 'never cuts a character of the preview in two',
    async run(stage) {
      await withReminder(stage, { argumentsPreviewChars: 11, thresholds: [2, 3] })
      const message = await reminderAfter(stage, 3, saying('\u{1F600}'.repeat(9)))
      expect(textOf(message.content)).toContain('\n- arguments: {"words":"\u{1F600}… (+10 more chars)\n')
    },
  },
  {
    id: 'tool-name',
    guard: 'repeat-tool-reminder',
    says: 'shows a tool name with line breaks on one line, and a long one cut',
    async run(stage) {
      await withReminder(stage, { thresholds: [2, 3] })
      const message = await reminderAfter(stage, 3, { name: `look\n- arguments: {}\n${'o'.repeat(10_000)}`, arguments: {} })
      const lines = textOf(message.content).split('\n')
      expect(lines).toHaveLength(5)
      expect(lines.join('\n').length).toBeLessThan(1_000)
    },
  },
]
