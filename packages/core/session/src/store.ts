import { randomUUID } from 'node:crypto'
import { type Context, Service } from '@deepseek-ai/cordis'
import type z from '@deepseek-ai/schemastery'
import { busOf } from '@loopguard/cordis-internals'
import { HarnessError } from '@loopguard/kit'
import type { SessionBackend, StoredSession } from './backend.ts'
import { Config } from './config.ts'
import type { SessionEvent } from './events.ts'
import { LogDirectory } from './log-directory.ts'
import { type CreateOptions, OpenSessions } from './open-sessions.ts'
import type { Session } from './session.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    sessions: SessionStore
  }
}

/**
 * `ctx.sessions`: the sessions that are open, in memory or, with a directory, each in a file of its own. Unloading it closes the
 * sessions without an owner.
 */
export class SessionStore extends Service {
  static readonly Config: z<Config> = Config

  private readonly open: OpenSessions

  /**
   * @param backend - keeps the logs in place of files; a store of another kind extends this class and passes its own.
   * @throws HarnessError `BAD_SESSION_DIRECTORY`, also for `durable` without one; `SESSION_WRITE_FAILED` when the directory cannot be made.
   */
  constructor(ctx: Context, config: Config = {}, backend: SessionBackend | undefined = backendOf(config)) {
    super(ctx, 'sessions')
    const open = (this.open = new OpenSessions(busOf(ctx), backend))
    ctx.effect(() => () => open.closeAll(), 'close the sessions that nobody adopted')
  }

  /**
   * Starts a session, under a fresh id when none is given.
   * @throws HarnessError `BAD_SESSION_ID`, `SESSION_EXISTS`, `SESSION_STORE_CLOSED` once the store is unloaded; with a directory
   * `SESSION_OPEN` when another process is just creating it, and `SESSION_WRITE_FAILED`.
   */
  create(id: string = randomUUID(), options: CreateOptions = {}): Session {
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
   * Opens a session that was closed, or whose process was killed, and goes on with its log. A line that was torn is dropped. A turn
   * that was left open is closed by ordinary events: each unanswered call gets an error as its result, with the code
   * `TOOL_OUTCOME_UNKNOWN` when it had been started and `TOOL_NOT_STARTED` otherwise, then the step and the turn end, `interrupted`.
   *
   * @throws HarnessError, as a rejection: `BAD_SESSION_ID`; `SESSION_NOT_FOUND`; `SESSION_OPEN` when this or another live process
   * holds it; `BAD_LOG` for a whole line that is no valid event, naming file and line; `SESSION_READ_FAILED`;
   * `SESSION_WRITE_FAILED`; `SESSION_STORE_CLOSED`; or what refused a closing event.
   */
  async load(id: string): Promise<Session> {
    return this.open.load(id)
  }

  /**
   * The events of a session, to look at: frozen, without a lock and without a repair. The session may be open, here or elsewhere.
   * @throws HarnessError, as a rejection: `BAD_SESSION_ID`, `SESSION_NOT_FOUND`, `BAD_LOG`, `SESSION_READ_FAILED`.
   */
  async read(id: string): Promise<readonly SessionEvent[]> {
    return this.open.read(id)
  }

  /** All sessions that are kept, the latest first; without a directory, those that are open. @throws HarnessError `SESSION_READ_FAILED` */
  async stored(): Promise<readonly StoredSession[]> {
    return this.open.stored()
  }
}

function backendOf({ directory, durable = false }: Config): SessionBackend | undefined {
  if (directory !== undefined) return new LogDirectory(directory, { durable })
  if (!durable) return undefined
  throw new HarnessError('session: `durable` needs a `directory`: what is kept in memory alone survives nothing', 'BAD_SESSION_DIRECTORY')
}
