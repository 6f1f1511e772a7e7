import { remindIn, type Reading, type RepeatConfig } from '@loopguard/repeat'

interface Part {
  type: string
  text?: string
  name?: string
  arguments?: unknown
}

interface Message {
  role: string
  content: string | Part[]
  timestamp: number
}

/** An extension of pi; in pi-agent-core, what the listener does is `transformContext`. */
export default function repeatToolReminder(
  pi: { on: (event: 'context', listener: (event: { messages: Message[] }) => unknown) => void },
  config: RepeatConfig = {},
): void {
  pi.on('context', ({ messages }) => ({ messages: remindIn(config, messages, read, make) }))
}

function read({ role, content }: Message): Reading {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return {
    user: role === 'user' ? parts.map(({ text = '' }) => text).join('\n') : undefined,
    calls: parts.filter(({ type }) => type === 'toolCall').map(({ name = '', arguments: args }: Part) => ({ name, args })),
    results: role === 'toolResult',
  }
}

function make(text: string): Message {
  return { role: 'user', content: [{ type: 'text', text }], timestamp: 0 }
}
