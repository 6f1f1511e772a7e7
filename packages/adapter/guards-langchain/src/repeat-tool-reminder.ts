import { createReminderFold, type Reading, type RepeatConfig } from '@loopguard/repeat'
import { AIMessage, type AgentMiddleware, type BaseMessage, createMiddleware, HumanMessage, ToolMessage } from 'langchain'

/**
 * For `createAgent({ middleware: [repeatToolReminder()] })`. The reminder is part of the request to the model alone: the state, and what a
 * checkpointer keeps of it, stays as it is.
 *
 * @throws TypeError `REPEAT_TOOL_REMINDER_CONFIG` that lists every fault of `config`, one a line.
 */
export function repeatToolReminder(config: RepeatConfig = {}): AgentMiddleware {
  const remind = createReminderFold<BaseMessage>('@loopguard/guards-langchain', config, read, (text) => new HumanMessage(text))
  return createMiddleware({
    name: 'RepeatToolReminder',
    wrapModelCall: (request, handler) => handler({ ...request, messages: remind(request.messages) }),
  })
}

function read(message: BaseMessage): Reading {
  if (HumanMessage.isInstance(message)) return { user: message.text }
  if (ToolMessage.isInstance(message)) return { results: true }
  if (!AIMessage.isInstance(message)) return {}
  // Arguments that are no JSON stay the text that they are.
  const { tool_calls: valid = [], invalid_tool_calls: invalid = [] } = message
  return { calls: [...valid, ...invalid].map(({ name = '', args }) => ({ name, args })) }
}
