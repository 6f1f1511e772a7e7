import { remindIn, type Reading } from '@loopguard/repeat'

interface Message {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
  tool_call_id?: string
}

const config = { exclude: ['todo_*'] }

/** What to send in place of `messages`: the same, with a reminder after the third equal call in a row, the fifth and the eighth. */
export function reminded(messages: Message[]): Message[] {
  return remindIn(config, messages, read, (content) => ({ role: 'user', content }))
}

function read({ role, content, tool_calls: calls = [] }: Message): Reading {
  return {
    user: role === 'user' ? content : undefined,
    calls: calls.map((call) => ({ name: call.function.name, args: parsed(call.function.arguments) })),
    results: role === 'tool',
  }
}

/** Arguments that are no JSON are compared as the text that they are. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
