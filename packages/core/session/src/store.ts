import { randomUUID } from 'node:crypto'
import { type Context, Service } from '@deepseek-ai/cordis'
import { type Bus, busOf, HarnessError, type SessionId } from '@loopguard/llm'
import { SESSION_VERSION } from './events.ts'
import { checkSessionId } from './ids.ts'
import { Session } from './session.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    sessions: SessionStore
  }
}

export interface CreateOptions {
  /** The session that this one was started from. */
  readonly parent?: SessionId
}

/** `ctx.sessions`: the sessions that are open. */
export class SessionStore extends Service {
  private readonly open: OpenSessions

  constructor(ctx: Context) {
    super(ctx, 'sessions')
    const open = (this.open = new OpenSessions(busOf(ctx)))
    ctx.effect(() => () => open.closeAll(), 'close sessions that nobody adopted')
  }

  /**
   * Starts a session, under a fresh id when none is given.
   * @throws HarnessError `BAD_SESSION_ID`, `SESSION_EXISTS`, `SESSION_STORE_CLOSED`.
   */
  create(id?: string, options?: CreateOptions): Session {
    return this.open.create(id, options)
  }

  /** The open session of this id. */
  get(id: string): Session | undefined {
    return this.open.sessions.get(id)
  }

  /** The open sessions, oldest first. */
  list(): Session[] {
    return [...this.open.sessions.values()]
  }

  /**
   * Opens a session of an earlier process.
   * @throws HarnessError `BAD_SESSION_ID`, `SESSION_NOT_FOUND`, `SESSION_OPEN`, as a rejection.
   */
  async load(id: string): Promise<Session> {
    return this.open.load(id)
  }
}

class OpenSessions {
  readonly sessions = new Map<string, Session>()
  private readonly bus: Bus
  private isClosed = false

  constructor(bus: Bus) {
    this.bus = bus
  }

  create(wanted: string = randomUUID(), { parent }: CreateOptions = {}): Session {
    const id = checkSessionId(wanted)
    if (this.isClosed) throw new HarnessError(`session "${id}": the store is unloaded`, 'SESSION_STORE_CLOSED')
    if (this.sessions.has(id)) throw new HarnessError(`session "${id}" exists already`, 'SESSION_EXISTS')
    const session = new Session(id, { bus: this.bus, onClose: () => this.sessions.delete(id) })
    this.sessions.set(id, session)
    try {
      session.append('session/start', { version: SESSION_VERSION, id, ...(parent !== undefined && { parent }) })
    } catch (refused) {
      session.close()
      throw refused
    }
    return session
  }

  load(wanted: string): Session {
    const id = checkSessionId(wanted)
    if (this.sessions.has(id)) throw new HarnessError(`session "${id}" is open already`, 'SESSION_OPEN')
    throw new HarnessError(`session "${id}" is not stored anywhere: the store has no directory`, 'SESSION_NOT_FOUND')
  }

  closeAll(): void {
    this.isClosed = true
    for (const session of this.sessions.values()) if (!session.adopted) session.close()
  }
}
