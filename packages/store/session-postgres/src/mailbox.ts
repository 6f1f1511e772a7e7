import { HarnessError, snapshot } from '@loopguard/kit'
import { messageFault, type SessionId, type UserMessage } from '@loopguard/llm'
import { checkSessionId } from '@loopguard/session'
import type { Database } from './database.ts'
import { isPlain } from './entry.ts'
import type { Statements } from './statements.ts'

/** A message that waits in the database for its agent. */
export interface Mail {
  readonly id: string
  /** JSON. */
  readonly message: string
}

/**
 * Queues a message for an agent, wherever it lives; one that has no log yet is made by the worker that takes the message. A message whose
 * id waits already is not queued again.
 * @returns why no worker takes the agent, when it is parked.
 * @throws HarnessError `BAD_SESSION_ID`, `BAD_MESSAGE`, `DATABASE_UNREACHABLE`.
 */
export async function sendMail(database: Database, sql: Statements, agent: string, message: UserMessage): Promise<string | undefined> {
  const id = checkSessionId(agent)
  const copy = snapshot(message, 'message')
  const fault =
    messageFault(copy, 'user') ?? (isId(copy.id) ? undefined : `message.id must be well-formed text of at most ${MAX_ID_BYTES} bytes`)
  if (fault !== undefined) throw new HarnessError(`session-postgres: a message for "${id}": ${fault}`, 'BAD_MESSAGE')
  const [row] = await database.query<{ parked: string | null }>(sql.send, [id, copy.id, JSON.stringify(copy)])
  return row?.parked ?? undefined
}

/** Indexes take no more than about 2,700. */
const MAX_ID_BYTES = 1000

const isId = (id: string): boolean => isPlain(id) && Buffer.byteLength(id) <= MAX_ID_BYTES

interface Asker {
  readonly resolve: (mail: readonly Mail[]) => void
  readonly reject: (why: unknown) => void
}

/** Reads mail. Who asks while a statement is under way shares the next one. */
export class Mailbox {
  private readonly database: Database
  private readonly sql: Statements
  private askers = new Map<SessionId, Asker[]>()
  private isReading = false

  constructor(database: Database, sql: Statements) {
    this.database = database
    this.sql = sql
  }

  /** All that waits for a session, in the order of sending. */
  fetch(session: SessionId): Promise<readonly Mail[]> {
    return new Promise((resolve, reject) => {
      this.askers.set(session, [...(this.askers.get(session) ?? []), { resolve, reject }])
      if (!this.isReading) void this.read()
    })
  }

  /** For what the log holds already, durable. */
  async drop(session: SessionId, ids: readonly string[]): Promise<void> {
    await this.database.query(this.sql.dropMail, [session, ids])
  }

  private async read(): Promise<void> {
    this.isReading = true
    // What is asked for in the same breath goes with it.
    await Promise.resolve()
    while (this.askers.size > 0) {
      const round = this.askers
      this.askers = new Map()
      try {
        const rows = await this.database.query<Mail & { session: SessionId }>(this.sql.mail, [[...round.keys()]])
        const found = Map.groupBy(rows, ({ session }) => session)
        for (const [session, askers] of round) for (const { resolve } of askers) resolve(found.get(session) ?? [])
      } catch (error) {
        for (const askers of round.values()) for (const { reject } of askers) reject(error)
      }
    }
    this.isReading = false
  }
}
