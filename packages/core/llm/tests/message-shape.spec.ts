import {
  contentFault,
  createAssistantMessage,
  createToolResultMessage,
  createUserMessage,
  CallId,
  messageFault,
  text,
} from '@loopguard/llm'
import fc from 'fast-check'
import { expect, it } from 'vitest'

const user = createUserMessage({ content: [text('hi')], source: { kind: 'user' } })

it('what this package makes is in order', () => {
  const callId = CallId('c')
  expect(messageFault(user, 'user')).toBeUndefined()
  expect(messageFault(createToolResultMessage({ callId, content: [text('x')], isError: true }), 'user')).toBeUndefined()
  const content = [
    text('x'),
    { type: 'tool-call' as const, id: callId, name: 'n', arguments: '{' },
    { type: 'reasoning' as const, text: '' },
  ]
  expect(messageFault(createAssistantMessage({ content, source: { provider: 'p', model: 'm' } }), 'assistant')).toBeUndefined()
})

it.each<[unknown, string]>([
  ['text', 'message must be a user message, got "text"'],
  [null, 'message must be a user message, got null'],
  [[], 'message must be a user message, got an array'],
  [{ ...user, id: 5 }, 'message.id must be non-empty text, got 5'],
  [{ ...user, id: '' }, 'message.id must be non-empty text, got ""'],
  [{ ...user, role: 'assistant' }, 'message.role must be "user", got "assistant"'],
  [{ ...user, source: undefined }, 'message.source must have a kind, got undefined'],
  [{ ...user, source: {} }, 'message.source must have a kind, got an object'],
  [{ ...user, content: 'hi' }, 'message.content must be an array of content blocks, got "hi"'],
  [{ ...user, content: [text('a'), 5] }, 'message.content[1] must be a content block, got 5'],
])('%# is no user message', (message, fault) => {
  expect(messageFault(message, 'user')).toBe(fault)
})

it('a message of the model has its own name', () => {
  expect([messageFault(5, 'assistant', 'data.message'), messageFault(user, 'assistant', 'x')]).toEqual([
    'data.message must be an assistant message, got 5',
    'x.role must be "assistant", got "user"',
  ])
})

it.each<[unknown, string]>([
  [{ text: 'x' }, 'content[0] must be a content block, got an object'],
  [{ type: 'text' }, 'content[0].text must be text, got undefined'],
  [{ type: 'reasoning', text: 1 }, 'content[0].text must be text, got 1'],
  [{ type: 'tool-call', id: 'a', name: 'b', arguments: {} }, 'content[0].arguments must be text, got an object'],
  [{ type: 'tool-call', id: 'a', arguments: '' }, 'content[0].name must be text, got undefined'],
  [{ type: 'tool-result', content: [] }, 'content[0].toolCallId must be text, got undefined'],
  [{ type: 'tool-result', toolCallId: 'a' }, 'content[0].content must be an array of content blocks, got undefined'],
  [{ type: 'tool-result', toolCallId: 'a', content: [], isError: 1 }, 'content[0].isError must be true or false, got 1'],
  [{ type: 'tool-result', toolCallId: 'a', content: [{ type: 'text' }] }, 'content[0].content[0].text must be text, got undefined'],
])('%j is no content block', (block, fault) => {
  expect(contentFault([block])).toBe(fault)
})

it('unknown block types and unknown keys pass, whatever they hold', () => {
  fc.assert(
    fc.property(fc.string(), fc.dictionary(fc.string(), fc.jsonValue()), (type, rest) => {
      fc.pre(!['text', 'reasoning', 'tool-call', 'tool-result'].includes(type))
      expect(
        contentFault([
          { ...rest, type },
          { ...rest, type: 'text', text: 'x' },
        ]),
      ).toBeUndefined()
    }),
  )
})

it('a fault a hundred thousand results deep is found, and its path is short', () => {
  let content: unknown[] = [{ type: 'text' }]
  for (let depth = 0; depth < 100_000; depth++) content = [{ type: 'tool-result', toolCallId: 'a', content }]
  const fault = contentFault(content)
  expect(fault).toMatch(/content\[0\]\.text must be text, got undefined$/)
  expect(fault?.length).toBeLessThan(300)
})
