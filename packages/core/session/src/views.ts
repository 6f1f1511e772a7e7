import type { Message, MessageId, UserMessage } from '@loopguard/llm'
import type { SessionEvent, SessionEventMap } from './events.ts'

/** Anything that holds a log. */
export interface Log {
  readonly events: readonly SessionEvent[]
}

/** A value folded from the log. It remembers how far it has read: asking again reads only what is new. */
function view<S>(initial: () => S, fold: (state: S, event: SessionEvent) => S): (log: Log) => S {
  const known = new WeakMap<Log, { state: S; read: number }>()
  return (log) => {
    let at = known.get(log)
    if (at === undefined) known.set(log, (at = { state: initial(), read: 0 }))
    for (; at.read < log.events.length; at.read++) at.state = fold(at.state, log.events[at.read] as SessionEvent)
    return at.state
  }
}

/** The messages that a request holds. The array is the view's own, and grows: copy it before you hand it on. */
export const messagesOf: (log: Log) => readonly Message[] = view<Message[]>(
  () => [],
  (messages, event) => {
    if (event.type === 'user/message') messages.push(event.data)
    else if (event.type === 'tool/result') messages.push(event.data.message)
    else if (event.type === 'assistant/message' && event.data.message.content.length > 0) messages.push(event.data.message)
    return messages
  },
)

/** Number of the last turn that was started, 0 when none was. */
export const lastTurn: (log: Log) => number = view(
  () => 0,
  (turn, event) => (event.type === 'turn/start' ? event.data.turn : turn),
)

/** What the last `request/header` said, if there was one. */
export const lastHeader: (log: Log) => SessionEventMap['request/header'] | undefined = view<SessionEventMap['request/header'] | undefined>(
  () => undefined,
  (header, event) => (event.type === 'request/header' ? event.data : header),
)

interface Queued {
  readonly entry: SessionEventMap['inbox/queued']
  /** It stands in the log as a user message. */
  isIn: boolean
}

const inboxOf = view(
  () => new Map<MessageId, Queued>(),
  (queued, event) => {
    if (event.type === 'inbox/removed') {
      for (const id of event.data.ids) queued.delete(id)
    } else if (event.type === 'inbox/queued') {
      const { id } = event.data.message
      if (!queued.has(id)) queued.set(id, { entry: event.data, isIn: false })
    } else if (event.type === 'user/message') {
      const found = queued.get(event.data.id)
      if (found !== undefined) found.isIn = true
    }
    return queued
  },
)

/** What was queued, is not in the conversation and has not left the inbox, in the order of queueing. */
export function pendingInbox(log: Log): { nextStep: UserMessage[]; nextTurn: UserMessage[] } {
  const nextStep: UserMessage[] = []
  const nextTurn: UserMessage[] = []
  for (const { entry, isIn } of inboxOf(log).values()) {
    if (!isIn) (entry.target === 'next-step' ? nextStep : nextTurn).push(entry.message)
  }
  return { nextStep, nextTurn }
}

/** What is in the conversation already, and was about to be taken out of the inbox. */
export function takenIn(log: Log): MessageId[] {
  return [...inboxOf(log)].flatMap(([id, { isIn }]) => (isIn ? [id] : []))
}
