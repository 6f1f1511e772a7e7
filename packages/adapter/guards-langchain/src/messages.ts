import type { Reading } from '@loopguard/repeat'
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from 'langchain'

export function read(message: BaseMessage): Reading {
  if (HumanMessage.isInstance(message)) return { user: message.text }
  if (ToolMessage.isInstance(message)) {
    return { results: [{ id: message.tool_call_id, isError: message.status === 'error', text: message.text }] }
  }
  if (!AIMessage.isInstance(message)) return {}
  // Arguments that are no JSON stay the text that they are.
  const { tool_calls: valid = [], invalid_tool_calls: invalid = [] } = message
  return { calls: [...valid, ...invalid].map(({ name = '', args, id }) => ({ name, args, id })) }
}

export function make(text: string): HumanMessage {
  return new HumanMessage(text)
}
