import { type Context, Service } from '@deepseek-ai/cordis'
import type { UserMessage } from '@loopguard/llm'
import { SessionStore } from '@loopguard/session'
import { addressOf } from './address.ts'
import { PostgresBackend } from './backend.ts'
import { Config } from './config.ts'
import { sendMail } from './mailbox.ts'
import { PgDatabase } from './pg-database.ts'
import { refusePooler } from './pooler.ts'
import { checkSchema } from './schema.ts'
import { Worker, type WorkerOptions } from './worker.ts'

/** Reads and claims go beside what appends. */
const MORE_CONNECTIONS = 2

/** `ctx.sessions` on Postgres: the sessions of many processes, each held by one of them at a time. */
export class PostgresSessions extends SessionStore {
  static override readonly Config: typeof SessionStore.Config = Config as never

  /** How people call this process. */
  readonly worker: string
  private readonly backend: PostgresBackend
  private readonly maxTakeovers: number

  /** @throws HarnessError `BAD_DATABASE`; while it starts `DATABASE_SCHEMA`, `DATABASE_POOLED`, `DATABASE_UNREACHABLE`, `DATABASE_REFUSED`. */
  constructor(ctx: Context, config: Config) {
    const database = openDatabase(config)
    const backend = new PostgresBackend(database, config)
    super(ctx, {}, backend)
    this.worker = config.worker
    this.backend = backend
    this.maxTakeovers = config.maxTakeovers
    let isStarted = false
    // Cordis awaits this method of the instance before the service counts as active.
    const start = async (): Promise<void> => {
      await checkSchema(database, config.schema)
      await refusePooler(database)
      await backend.start()
      isStarted = true
    }
    Object.defineProperty(this, Service.init, { value: start })
    ctx.effect(
      () => async () => {
        if (isStarted) await backend.stop()
        await database.end()
      },
      'leave the database',
    )
  }

  /**
   * Queues a message for an agent, wherever it lives.
   * @returns why no worker takes the agent, when it is parked.
   * @throws HarnessError `BAD_SESSION_ID`, `BAD_MESSAGE`, `DATABASE_UNREACHABLE`.
   */
  async send(agent: string, message: UserMessage): Promise<string | undefined> {
    return sendMail(this.backend.database, this.backend.sql, agent, message)
  }

  /** Starts to claim agents and to run them, until the worker that it returns is drained. */
  work(options: WorkerOptions): Worker {
    return new Worker(this.backend, this.maxTakeovers, options)
  }
}

/** @throws HarnessError `BAD_DATABASE` */
export function openDatabase(config: Config): PgDatabase {
  return new PgDatabase(addressOf(config), config.lanes + MORE_CONNECTIONS, config.leaseMs)
}
