import { expect, it } from 'vitest'
import { reminderMessage } from '../src/message.ts'

it('the message is frozen through and through, with a fresh id', () => {
  const message = reminderMessage('repeat-tool-reminder', 'text')
  expect(message).toEqual({
    id: expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/) as string,
    role: 'user',
    content: [{ type: 'text', text: 'text' }],
    source: { kind: 'plugin', plugin: 'repeat-tool-reminder' },
  })
  expect([message, message.content, message.content[0], message.source].every(Object.isFrozen)).toBe(true)
  expect(reminderMessage('repeat-tool-reminder', 'text').id).not.toBe(message.id)
})
