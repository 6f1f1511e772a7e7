import { HarnessError, snapshot } from '@loopguard/kit'
import { messageFault, type UserMessage } from '@loopguard/llm'

/**
 * A detached, deep-frozen copy of a user message.
 * @throws HarnessError `BAD_MESSAGE`, or a JsonError, which say what is wrong and where.
 */
export function userMessageOf(value: unknown, name = 'message'): UserMessage {
  const message: unknown = snapshot(value, name)
  const fault = messageFault(message, 'user', name)
  if (fault === undefined) return message as UserMessage
  throw new HarnessError(`agent-loop: ${fault} (createUserMessage makes user messages)`, 'BAD_MESSAGE')
}
