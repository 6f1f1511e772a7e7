import type { Bus } from '@loopguard/cordis-internals'
import { HarnessError } from '@loopguard/kit'
import type { SessionId } from '@loopguard/llm'
import type { SessionBackend, StoredSession } from './backend.ts'
import { SESSION_VERSION, type SessionEvent } from './events.ts'
import { sessionExists, sessionNotFound, sessionOpen } from './failures.ts'
import { checkSessionId } from './ids.ts'
import { closeOpenTurn } from './repair.ts'
import { Session, type SessionParts } from './session.ts'
import { titleOf } from './title.ts'

export interface CreateOptions {
  /** The session that this one was started from. */
  readonly parent?: SessionId
}

/** What `ctx.sessions` holds. Apart from the service, whose methods run behind a traced proxy. */
export class OpenSessions {
  readonly sessions: Map<string, Session> = new Map()
  private readonly bus: Bus
  private readonly backend: SessionBackend | undefined
  private isClosed = false

  constructor(bus: Bus, backend: SessionBackend | undefined) {
    this.bus = bus
    this.backend = backend
  }

  create(wanted: string, { parent }: CreateOptions): Session {
    const id = checkSessionId(wanted)
    if (parent !== undefined) checkSessionId(parent)
    this.assertOpen(id)
    if (this.sessions.has(id)) throw sessionExists(id)
    const sink = this.backend?.create(id)
    return this.start(id, sink === undefined ? {} : { sink }, (session) =>
      session.append('session/start', { version: SESSION_VERSION, id, ...(parent !== undefined && { parent }) }),
    )
  }

  async load(wanted: string): Promise<Session> {
    const id = checkSessionId(wanted)
    this.assertOpen(id)
    if (this.sessions.has(id)) throw sessionOpen(id, 'in this process')
    if (this.backend === undefined) throw sessionNotFound(id, 'in memory; without a directory a closed session is gone')
    const { events, log } = await this.backend.load(id)
    const session = this.start(id, { sink: log, events }, (started) => {
      this.assertOpen(id)
      closeOpenTurn(started)
    })
    try {
      // Nothing follows a repair that may be lost.
      await session.flush()
      return session
    } catch (refused) {
      closeUnheard(session)
      throw refused
    }
  }

  async read(wanted: string): Promise<readonly SessionEvent[]> {
    const id = checkSessionId(wanted)
    const open = this.sessions.get(id)
    if (open !== undefined) return Object.freeze(open.events.slice())
    if (this.backend === undefined) throw sessionNotFound(id, 'in memory; without a directory a closed session is gone')
    return Object.freeze(await this.backend.read(id))
  }

  async stored(): Promise<readonly StoredSession[]> {
    return this.backend === undefined ? [...this.sessions.values()].map(storedOf).reverse() : this.backend.stored()
  }

  /** Settles when all logs are free. @throws what the first session that failed to close threw, once all are closed. */
  async closeAll(): Promise<void> {
    this.isClosed = true
    const failures: unknown[] = []
    const releasing: Promise<void>[] = []
    for (const session of this.sessions.values()) {
      if (session.adopted) continue
      try {
        session.close()
        if (session.released !== undefined) releasing.push(session.released)
      } catch (failure) {
        failures.push(failure)
      }
    }
    for (const outcome of await Promise.allSettled(releasing)) if (outcome.status === 'rejected') failures.push(outcome.reason)
    if (failures.length > 0) throw failures[0]
  }

  /** Listed before its first event, so that a listener finds it; a refusal of that event undoes it all, and is what the caller hears. */
  private start(id: SessionId, parts: Omit<SessionParts, 'bus' | 'onClose'>, begin: (session: Session) => void): Session {
    const session = new Session(id, { ...parts, bus: this.bus, onClose: () => this.sessions.delete(id) })
    this.sessions.set(id, session)
    try {
      begin(session)
      return session
    } catch (refused) {
      closeUnheard(session)
      throw refused
    }
  }

  private assertOpen(id: SessionId): void {
    if (this.isClosed) throw new HarnessError(`session "${id}": the session store is unloaded`, 'SESSION_STORE_CLOSED')
  }
}

function storedOf({ id, events }: Session): StoredSession {
  let title: string | undefined
  for (const { type, data } of events) if ((title = titleOf(type, data)) !== undefined) break
  return { id, updatedAt: events.at(-1)?.time ?? 0, ...(title !== undefined && { title }) }
}

/** All is released, also when the closing fails: what went wrong first is what counts. */
function closeUnheard(session: Session): void {
  try {
    session.close()
  } catch {}
}
