import { type Bus, resolveContained } from '@loopguard/cordis-internals'
import { HarnessError, snapshot } from '@loopguard/kit'
import type { Message, SessionId } from '@loopguard/llm'
import type { SessionEvent, SessionEventMap, SessionEventType } from './events.ts'
import { faultOfAppend } from './event-shape.ts'
import { messagesOf } from './views.ts'

/** Where a session's events go besides memory. Every failure is a HarnessError, and leaves nothing half done. */
export interface EventSink {
  /** Turns an event into what `write` takes; refuses what could not be written. */
  encode(event: SessionEvent): Uint8Array
  /** Writes all of it or none. After a failure the sink takes no more. */
  write(line: Uint8Array): void
  close(): void
}

export interface SessionParts {
  readonly bus: Bus
  readonly sink?: EventSink
  /** What the log holds already; the session takes the array over. */
  readonly events?: SessionEvent[]
  /** Runs once, when the session closes. */
  readonly onClose?: () => void
}

/** The append-only log of one conversation. Made by `ctx.sessions`; whoever adopts it closes it. */
export class Session {
  readonly id: SessionId
  /** The log. A real array, and the session's own: read it, never write to it. */
  readonly events: readonly SessionEvent[]
  private readonly log: SessionEvent[]
  private readonly parts: SessionParts
  private readonly unpublished: (() => void)[] = []
  private publishing = false
  private judging = false
  private isClosed = false
  private isAdopted = false

  constructor(id: SessionId, parts: SessionParts) {
    this.id = id
    this.parts = parts
    this.events = this.log = parts.events ?? []
  }

  get closed(): boolean {
    return this.isClosed
  }

  get adopted(): boolean {
    return this.isAdopted
  }

  /**
   * Commits one event: a detached, deep-frozen copy of `data`. Committed means that this returned. It is published to the
   * listeners of `session/event`, which are contained; an append from inside a listener is committed at once and published
   * after the current event, so that every listener sees the order of the log.
   *
   * @throws JsonError when `data` is no JSON (the path says where), HarnessError `SESSION_CLOSED`, `BAD_EVENT` for a type that
   * is no text and for data that a known type cannot have, `APPEND_WHILE_JUDGED` from inside `internal/dispatch` of another append; with a file `SESSION_WRITE_FAILED`,
   * `SESSION_EVENT_TOO_DEEP`, `SESSION_EVENT_TOO_LARGE`; and whatever a listener of `internal/dispatch` throws to refuse the
   * event. A refused event leaves no trace.
   */
  append<T extends SessionEventType>(type: T, data: SessionEventMap[T]): SessionEvent<T> {
    const { bus, sink } = this.parts
    this.assertOpen(type)
    const copy = snapshot(data)
    if (this.judging) {
      throw new HarnessError(
        `session "${this.id}": "${type}" was appended while another event is being judged (internal/dispatch)`,
        'APPEND_WHILE_JUDGED',
      )
    }
    const fault = faultOfAppend(type, copy, this.log.length)
    if (fault !== undefined) throw new HarnessError(`session "${this.id}": "${type}": ${fault}`, 'BAD_EVENT')
    const event = Object.freeze({ seq: this.log.length, time: Date.now(), type, data: copy }) as SessionEvent
    const line = sink?.encode(event)
    const publish = this.judge(() => resolveContained(bus, null, 'session/event', [this, event]))
    this.assertOpen(type)
    if (line !== undefined) sink?.write(line)
    this.log.push(event)
    this.unpublished.push(publish)
    if (!this.publishing) this.publishAll()
    return event as SessionEvent<T>
  }

  /** What the model has seen: user messages, assistant messages with content and tool results, in log order. A fresh array. */
  deriveMessages(): Message[] {
    return messagesOf(this).slice()
  }

  /**
   * From now on the caller closes this session; the store's unloading leaves it open.
   * @throws HarnessError `SESSION_OWNED` when it was adopted already, `SESSION_CLOSED` when it is closed.
   */
  adopt(): void {
    if (this.isClosed) throw new HarnessError(`session "${this.id}" is closed: it cannot be adopted`, 'SESSION_CLOSED')
    if (this.isAdopted) throw new HarnessError(`session "${this.id}" has an owner already`, 'SESSION_OWNED')
    this.isAdopted = true
  }

  /** Takes no more events, releases the file and frees the id. The log stays readable. Again is a no-op. */
  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    try {
      this.parts.sink?.close()
    } finally {
      this.parts.onClose?.()
    }
  }

  private assertOpen(type: unknown): void {
    if (typeof type !== 'string' || type.trim() === '') {
      throw new HarnessError(`session "${this.id}": an event type must be non-blank text, got ${JSON.stringify(type)}`, 'BAD_EVENT')
    }
    if (this.isClosed) throw new HarnessError(`session "${this.id}" is closed: it takes no "${type}"`, 'SESSION_CLOSED')
  }

  private judge<R>(resolve: () => R): R {
    this.judging = true
    try {
      return resolve()
    } finally {
      this.judging = false
    }
  }

  private publishAll(): void {
    this.publishing = true
    try {
      for (const publish of this.unpublished) publish()
    } finally {
      this.publishing = false
      this.unpublished.length = 0
    }
  }
}

declare module '@deepseek-ai/cordis' {
  interface Events {
    /** An event was committed. @mode emit; listeners are contained. A throw in `internal/dispatch` refuses the event. */
    'session/event'(session: Session, event: SessionEvent): void
  }
}
