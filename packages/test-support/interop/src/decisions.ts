import type { Message, Result } from './host.ts'

/** Answer of `tools/pre-execute`. */
export type PreDecision = { kind: 'allow' } | { kind: 'deny'; reason: string }

/** Answer of `tools/post-execute`. */
export type PostDecision =
  | { kind: 'accept'; content?: Result['content']; additionalContexts?: readonly Message[] }
  | { kind: 'block'; feedback: Result['content']; additionalContexts?: readonly Message[] }
