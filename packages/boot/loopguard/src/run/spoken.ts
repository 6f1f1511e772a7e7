import { randomUUID } from 'node:crypto'
import type { MessageId, UserMessage } from '@loopguard/llm'

/** What a person says to an agent. Made here, since the command loads no host of its own; the agent checks it, as it does with any. */
export function spoken(text: string, id: string = randomUUID()): UserMessage {
  return { id: id as MessageId, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } }
}
