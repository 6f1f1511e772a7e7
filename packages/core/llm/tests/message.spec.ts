import {
  CallId,
  createAssistantMessage,
  createToolResultMessage,
  createUserMessage,
  MessageId,
  SessionId,
  snapshot,
  text,
  type ContentBlock,
  type Message,
} from '@loopguard/llm'
import { expect, it } from 'vitest'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

function expectFrozen(message: Message): void {
  for (const part of [message, message.content, ...message.content, message.source]) expect(Object.isFrozen(part)).toBe(true)
}

it('a user message keeps its content and its source, under a fresh id', () => {
  const source = { kind: 'plugin' as const, plugin: 'p' }
  const [first, second] = [1, 2].map(() => createUserMessage({ content: [text('hi')], source }))
  expect(first).toEqual({ id: expect.stringMatching(UUID), role: 'user', content: [{ type: 'text', text: 'hi' }], source })
  expect(first!.id).not.toBe(second!.id)
  expectFrozen(first!)
})

it('an assistant message comes from a model', () => {
  const call = { type: 'tool-call' as const, id: CallId('c'), name: 'read', arguments: '{"a":' }
  const message = createAssistantMessage({ content: [text('hm'), call], source: { provider: 'p', model: 'm' } })
  expect(message).toEqual({
    id: expect.stringMatching(UUID),
    role: 'assistant',
    content: [text('hm'), call],
    source: { kind: 'model', provider: 'p', model: 'm' },
  })
  expectFrozen(message)
})

it('an assistant message takes provider and model alone from what is given as its source', () => {
  const options = { provider: 'p', model: 'm', kind: 'user', system: 'be kind' }
  const { source } = createAssistantMessage({ content: [], source: options })
  expect(source).toEqual({ kind: 'model', provider: 'p', model: 'm' })
})

it('a tool result is a user message of one block that names the call', () => {
  const message = createToolResultMessage({ callId: CallId('c'), content: [text('done')], isError: true })
  expect(message).toEqual({
    id: expect.stringMatching(UUID),
    role: 'user',
    content: [{ type: 'tool-result', toolCallId: 'c', content: [text('done')], isError: true }],
    source: { kind: 'tool', callId: 'c' },
  })
  expectFrozen(message)
})

it('a message is detached from its input, and cannot be changed', () => {
  const content: ContentBlock[] = [{ type: 'text', text: 'hi' }]
  const message = createUserMessage({ content, source: { kind: 'user' } })
  content.push(text('more'))
  Object.assign(content[0]!, { text: 'changed' })
  expect(message.content).toEqual([text('hi')])
  expect(() => (message.content as ContentBlock[]).push(text('more'))).toThrow(TypeError)
  expect(() => Object.assign(message, { role: 'assistant' })).toThrow(TypeError)
})

it('content that is frozen already is taken as it is', () => {
  const content = snapshot([text('a long text')])
  const message = createToolResultMessage({ callId: CallId('c'), content, isError: false })
  expect(message.content[0].content).toBe(content)
})

it('content that JSON cannot hold is refused, with its path', () => {
  const content = [{ type: 'text', text: undefined }] as unknown as ContentBlock[]
  expect(() => createUserMessage({ content, source: { kind: 'user' } })).toThrow('message.content[0].text is undefined')
})

it('ids are the text that they brand', () => {
  expect([CallId('a'), MessageId('b'), SessionId('c')]).toEqual(['a', 'b', 'c'])
})
