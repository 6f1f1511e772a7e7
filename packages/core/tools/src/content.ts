import { HarnessError, show, snapshot } from '@loopguard/kit'
import { contentFault, messageFault, type ContentBlock, type UserMessage } from '@loopguard/llm'

/**
 * A detached, deep-frozen copy of an array of content blocks.
 * @throws HarnessError `BAD_CONTENT`, or a JsonError, which say what is wrong and where.
 */
export function contentOf(value: unknown, name: string): readonly ContentBlock[] {
  const content: unknown = snapshot(value, name)
  refuse(contentFault(content, name))
  return content as readonly ContentBlock[]
}

/** Detached, deep-frozen copies of user messages. @throws as {@link contentOf} */
export function contextsOf(value: unknown, name: string): readonly UserMessage[] {
  const messages: unknown = snapshot(value, name)
  if (!Array.isArray(messages)) throw bad(`${name} must be an array of user messages, got ${show(messages)}`)
  for (const [index, message] of messages.entries()) refuse(messageFault(message, 'user', `${name}[${index}]`))
  return messages as readonly UserMessage[]
}

/** A detached, deep-frozen copy of one user message. @throws as {@link contentOf} */
export function contextOf(value: unknown, name: string): UserMessage {
  const message: unknown = snapshot(value, name)
  refuse(messageFault(message, 'user', name))
  return message as UserMessage
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function refuse(fault: string | undefined): void {
  if (fault !== undefined) throw bad(fault)
}

function bad(message: string): HarnessError {
  return new HarnessError(message, 'BAD_CONTENT')
}
