import { createUserMessage, text, type UserMessage } from '@loopguard/llm'
import { pendingInbox, type SessionEvent } from '@loopguard/session'

/** What becomes of a turn that a dead worker left open: it goes on by itself, or waits for somebody's message. */
export type OnTakeover = 'resume' | 'wait'

const GO_ON =
  'The process that ran this turn ended before the turn did, and another one has taken over. Go on where it stopped. A call whose outcome is not known may have taken effect: look before you repeat it.'

/**
 * What makes an agent whose log was taken over go on: the message that waits first, or one that says what happened. Undefined when there
 * is nothing to do, or when the next move is somebody else's.
 */
export function wakeUp({ events }: { readonly events: readonly SessionEvent[] }, onTakeover: OnTakeover): UserMessage | undefined {
  // A child was asked by its parent, which is told of the interruption and asks anew.
  if (isChild(events[0])) return undefined
  const { nextStep, nextTurn } = pendingInbox({ events })
  const waiting = nextStep[0] ?? nextTurn[0]
  const end = events.findLastIndex(({ type }) => type === 'turn/end')
  const reason = (events[end] as SessionEvent<'turn/end'> | undefined)?.data.reason.kind
  if (reason === 'interrupted' && onTakeover === 'resume') {
    const goOn = (): UserMessage => createUserMessage({ content: [text(GO_ON)], source: { kind: 'plugin', plugin: 'session-postgres' } })
    return waiting ?? (hasMoved(events, end) ? undefined : goOn())
  }
  // After such an end the loop waits for a message; one that came later is what it has waited for.
  const isOver = reason === 'interrupted' || reason === 'error' || reason === 'blocked' || reason === 'aborted'
  return isOver && !hasMoved(events, end) ? undefined : waiting
}

function isChild(first: SessionEvent | undefined): boolean {
  return first?.type === 'session/start' && first.data.parent !== undefined
}

/** Whether a message has come since. */
function hasMoved(events: readonly SessionEvent[], end: number): boolean {
  return events.slice(end + 1).some(({ type }) => type === 'inbox/queued')
}
