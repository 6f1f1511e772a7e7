import type { Bus } from '@loopguard/cordis-internals'
import { HarnessError } from '@loopguard/kit'
import type { SessionId } from '@loopguard/llm'
import { SESSION_VERSION } from './events.ts'
import { sessionExists, sessionNotFound, sessionOpen } from './failures.ts'
import { checkSessionId } from './ids.ts'
import type { LogDirectory } from './log-directory.ts'
import { closeOpenTurn } from './repair.ts'
import { Session, type SessionParts } from './session.ts'
import type { CreateOptions } from './store.ts'

/** What `ctx.sessions` holds. Apart from the service, whose methods run behind a traced proxy. */
export class OpenSessions {
  readonly sessions: Map<string, Session> = new Map()
  private readonly bus: Bus
  private readonly directory: LogDirectory | undefined
  private isClosed = false

  constructor(bus: Bus, directory: LogDirectory | undefined) {
    this.bus = bus
    this.directory = directory
  }

  create(wanted: string, { parent }: CreateOptions): Session {
    const id = checkSessionId(wanted)
    if (parent !== undefined) checkSessionId(parent)
    this.assertOpen(id)
    if (this.sessions.has(id)) throw sessionExists(id)
    const sink = this.directory?.create(id)
    return this.start(id, sink === undefined ? {} : { sink }, (session) =>
      session.append('session/start', { version: SESSION_VERSION, id, ...(parent !== undefined && { parent }) }),
    )
  }

  async load(wanted: string): Promise<Session> {
    const id = checkSessionId(wanted)
    this.assertOpen(id)
    if (this.sessions.has(id)) throw sessionOpen(id, 'in this process')
    if (this.directory === undefined) throw sessionNotFound(id, 'in memory; without a directory a closed session is gone')
    const { events, log } = await this.directory.load(id)
    return this.start(id, { sink: log, events }, (session) => {
      this.assertOpen(id)
      closeOpenTurn(session)
    })
  }

  /** @throws what the first session that failed to close threw, once all are closed. */
  closeAll(): void {
    this.isClosed = true
    const failures: unknown[] = []
    for (const session of this.sessions.values()) {
      if (session.adopted) continue
      try {
        session.close()
      } catch (failure) {
        failures.push(failure)
      }
    }
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

/** All is released, also when the closing fails: what went wrong first is what counts. */
function closeUnheard(session: Session): void {
  try {
    session.close()
  } catch {}
}
