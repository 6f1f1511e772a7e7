export {
  SESSION_VERSION,
  type CancelCause,
  type InboxTarget,
  type SessionEvent,
  type SessionEventMap,
  type SessionEventType,
  type TurnEndReason,
} from './events.ts'
export type { EventSink, SessionBackend, StoredSession } from './backend.ts'
export { Config } from './config.ts'
export { sessionLost } from './failures.ts'
export { checkSessionId } from './ids.ts'
export { decodeLine, encodeLine } from './line.ts'
export { LogDirectory } from './log-directory.ts'
export { salvage, type Salvage, type SalvageNote } from './salvage.ts'
export { Session } from './session.ts'
export { SessionStore, SessionStore as default } from './store.ts'
export type { CreateOptions } from './open-sessions.ts'
export { titleOf } from './title.ts'
export { lastHeader, lastTurn, messagesOf, pendingInbox } from './views.ts'
export { TOOL_NOT_STARTED, TOOL_OUTCOME_UNKNOWN } from './recovery-codes.ts'
