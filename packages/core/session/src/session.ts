import { type Bus, resolveContained } from '@loopguard/cordis-internals'
import { HarnessError, snapshot } from '@loopguard/kit'
import type { Message, SessionId } from '@loopguard/llm'
import type { EventSink } from './backend.ts'
import type { SessionEvent, SessionEventMap, SessionEventType } from './events.ts'
import { faultOfAppend } from './event-shape.ts'
import { messagesOf } from './views.ts'

export interface SessionParts {
  readonly bus: Bus
  readonly sink?: EventSink
  /** What the log holds already; the session takes the array over. */
  readonly events?: SessionEvent[]
  /** Runs once, when the session has closed and its log is free. */
  readonly onClose?: () => void
}

/** The append-only log of one conversation. Made by `ctx.sessions`; its adopter closes it. */
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
  private releasing: Promise<void> | undefined
  /** Why the log takes no more: a flush has failed. */
  private failure: unknown

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

  /** Aborts when another process has taken the log over. Only stores that can be taken over have one. */
  get lost(): AbortSignal | undefined {
    return this.parts.sink?.lost
  }

  /** Grows each time the log is taken over; only stores that can be taken over have one. A tool can fence with it what it writes elsewhere. */
  get epoch(): number | undefined {
    return this.parts.sink?.epoch
  }

  /** Where the log is, for a person who looks for it: the path of its file. Nowhere, while it is kept in memory alone. */
  get location(): string | undefined {
    return this.parts.sink?.location
  }

  /** After `close`, where giving the log back takes time: settles when the id is free. Rejects when something was lost at the end. */
  get released(): Promise<void> | undefined {
    return this.releasing
  }

  /**
   * Commits one event: a detached, deep-frozen copy of `data`. Committed means that this returned. It is published to the
   * listeners of `session/event`, which are contained; an append from inside a listener is committed at once and published
   * after the current event, so that every listener sees the order of the log. An event is published before it is durable: a listener
   * whose effects must not outlive the event waits for {@link flush} first.
   *
   * @throws JsonError when `data` is no JSON (the path says where), HarnessError `SESSION_CLOSED`, `BAD_EVENT` for a type that
   * is no text and for data that a known type cannot have, `APPEND_WHILE_JUDGED` from inside `internal/dispatch` of another append; with a file `SESSION_WRITE_FAILED`,
   * `SESSION_EVENT_TOO_DEEP`, `SESSION_EVENT_TOO_LARGE`; and what a listener of `internal/dispatch` throws to refuse the
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
    if (this.failure !== undefined) throw this.failure
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

  /**
   * A barrier: settles when all that was committed so far is durable. Nothing is returned where there is nothing to wait for: in
   * memory, and in files without `durable`. After a rejection it always rejects, and the session takes no more events.
   * @throws HarnessError, as a rejection: `SESSION_WRITE_FAILED`, `SESSION_LOST`.
   */
  flush(): Promise<void> | undefined {
    if (this.failure !== undefined) return Promise.reject(this.failure)
    return this.parts.sink?.flush?.().catch((cause: unknown) => {
      throw (this.failure ??= cause)
    })
  }

  /** Takes no more events, gives the log back and frees the id ({@link released}). The log stays readable. Again is a no-op. */
  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    const { sink, onClose } = this.parts
    try {
      sink?.close()
    } finally {
      if (sink?.released === undefined) onClose?.()
      else {
        this.releasing = sink.released.finally(onClose)
        // A failed closing that is not awaited must not end the process.
        this.releasing.catch(() => {})
      }
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
    /**
     * An event was committed; it may not be durable yet ({@link Session.flush}).
     * @mode emit; listeners are contained. A throw in `internal/dispatch` refuses the event.
     */
    'session/event'(session: Session, event: SessionEvent): void
  }
}
