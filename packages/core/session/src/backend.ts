import type { SessionId } from '@loopguard/llm'
import type { SessionEvent } from './events.ts'

/** What `ctx.sessions` keeps its logs in. A store of another kind passes its own to {@link SessionStore}. */
export interface SessionBackend {
  /**
   * Starts a log, at once. Where the answer takes time, the first `flush` of the sink rejects with what should have been thrown.
   * @throws HarnessError `SESSION_EXISTS`, `SESSION_OPEN`, `SESSION_WRITE_FAILED`.
   */
  create(id: SessionId): EventSink
  /**
   * Takes a log over, to go on with it. The array of events is the caller's.
   * @throws HarnessError `SESSION_NOT_FOUND`, `SESSION_OPEN`, `BAD_LOG`, `SESSION_READ_FAILED`, `SESSION_WRITE_FAILED`.
   */
  load(id: SessionId): Promise<{ readonly events: SessionEvent[]; readonly log: EventSink }>
  /** Reads a log without taking it over, also one that another process holds. @throws HarnessError `SESSION_NOT_FOUND`, `BAD_LOG`, `SESSION_READ_FAILED`. */
  read(id: SessionId): Promise<SessionEvent[]>
  /** All logs, the latest first. One that cannot be read is listed without a title. @throws HarnessError `SESSION_READ_FAILED` */
  stored(): Promise<readonly StoredSession[]>
}

/** One log in a list of them. */
export interface StoredSession {
  readonly id: SessionId
  /** When it last grew, in milliseconds since the epoch. */
  readonly updatedAt: number
  /** What the first person said in it: one line of at most 80 code points. */
  readonly title?: string
}

/** Where the events of one session go besides memory. Every failure is a HarnessError, and leaves nothing half done. */
export interface EventSink {
  /** Turns an event into what `write` takes. Refuses what could not be written, and everything once the sink is broken. */
  encode(event: SessionEvent): Uint8Array
  /** Accepts all of a line or nothing of it, in order. After a failure, of its own or of `flush`, it always throws. */
  write(line: Uint8Array): void
  /**
   * Resolves when all that was accepted so far is durable. Left out where `write` has done all there is to do.
   * After a rejection (`SESSION_WRITE_FAILED`, `SESSION_LOST`) it always rejects.
   */
  flush?(): Promise<void>
  /** Aborts when another process has taken the log over: nothing more of this one gets into it. */
  readonly lost?: AbortSignal
  /** Grows with each taking over, so that a tool can fence what it writes elsewhere. */
  readonly epoch?: number
  /** Where the log is, for a person who looks for it: the path of a file. */
  readonly location?: string
  /** Starts to give the log back. */
  close(): void
  /** Where that takes time: settles when the log is free. There once `close` has returned. */
  readonly released?: Promise<void>
}
