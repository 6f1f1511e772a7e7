import { randomUUID } from 'node:crypto'
import { type CallId, MessageId } from './ids.ts'
import { asSnapshot, type JsonValue } from '@loopguard/kit'

/**
 * What a provider wants back with a block, such as a signature: it stands in the log and goes back out. Opaque to all but the adapter
 * of that provider.
 */
export type ProviderData = Readonly<Record<string, JsonValue>>

export interface TextBlock {
  readonly type: 'text'
  readonly text: string
  readonly providerData?: ProviderData
}

export interface ReasoningBlock {
  readonly type: 'reasoning'
  readonly text: string
  readonly providerData?: ProviderData
}

export interface ToolCallBlock {
  readonly type: 'tool-call'
  readonly id: CallId
  readonly name: string
  /** The model's raw JSON text, malformed text included. */
  readonly arguments: string
  readonly providerData?: ProviderData
}

export interface ToolResultBlock {
  readonly type: 'tool-result'
  readonly toolCallId: CallId
  readonly content: readonly ContentBlock[]
  readonly isError?: boolean
}

export type ContentBlock = TextBlock | ReasoningBlock | ToolCallBlock | ToolResultBlock

/** Where a message comes from, by `kind`. Open: declare more members by merging. */
export interface MessageSourceMap {
  user: { readonly kind: 'user' }
  plugin: { readonly kind: 'plugin'; readonly plugin: string }
  model: { readonly kind: 'model'; readonly provider: string; readonly model: string }
  tool: { readonly kind: 'tool'; readonly callId: CallId }
}

export type MessageSource = MessageSourceMap[keyof MessageSourceMap]

/** Immutable: detached from its input and deep-frozen when made. */
export interface Message {
  readonly id: MessageId
  readonly role: 'user' | 'assistant'
  readonly content: readonly ContentBlock[]
  readonly source: MessageSource
}

export interface UserMessage extends Message {
  readonly role: 'user'
}

export interface AssistantMessage extends Message {
  readonly role: 'assistant'
  readonly source: MessageSourceMap['model']
}

export interface ToolResultMessage extends UserMessage {
  readonly content: readonly [ToolResultBlock]
  readonly source: MessageSourceMap['tool']
}

const freshId = (): MessageId => MessageId(randomUUID())

/** A user-role message. @throws JsonError when content or source is no JSON. */
export function createUserMessage(input: { content: readonly ContentBlock[]; source: MessageSource }): UserMessage {
  return asSnapshot({ id: freshId(), role: 'user' as const, content: input.content, source: input.source }, 'message')
}

/** What the model said. @throws JsonError when content is no JSON. */
export function createAssistantMessage(input: {
  content: readonly ContentBlock[]
  source: { provider: string; model: string }
}): AssistantMessage {
  const { provider, model } = input.source
  const source = asSnapshot({ kind: 'model' as const, provider, model }, 'message.source')
  return asSnapshot({ id: freshId(), role: 'assistant' as const, content: input.content, source }, 'message')
}

/** The answer to one tool call. @throws JsonError when content is no JSON. */
export function createToolResultMessage(input: { callId: CallId; content: readonly ContentBlock[]; isError: boolean }): ToolResultMessage {
  const { callId, content, isError } = input
  const source = asSnapshot({ kind: 'tool' as const, callId }, 'message.source')
  const block = asSnapshot({ type: 'tool-result' as const, toolCallId: callId, content, isError }, 'message.content[0]')
  return asSnapshot({ id: freshId(), role: 'user' as const, content: asSnapshot([block] as const), source }, 'message')
}

/** One text block. */
export function text(value: string): TextBlock {
  return { type: 'text', text: value }
}
