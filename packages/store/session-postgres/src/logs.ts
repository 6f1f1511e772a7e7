import { messageOf } from '@loopguard/kit'
import { SessionId } from '@loopguard/llm'
import { decodeLine, type SessionEvent, type StoredSession } from '@loopguard/session'
import type { Database } from './database.ts'
import { badLog, readFailed, sessionNotFound, sessionOpen } from './faults.ts'
import type { Statements } from './statements.ts'

/** Reads what is stored; takes nothing over. */
export class Logs {
  private readonly database: Database
  private readonly sql: Statements

  constructor(database: Database, sql: Statements) {
    this.database = database
    this.sql = sql
  }

  /** @throws HarnessError `BAD_LOG`, `SESSION_READ_FAILED`. */
  async eventsOf(id: SessionId): Promise<SessionEvent[]> {
    const rows = await this.ask<{ seq: number; line: string }>(id, this.sql.events, [id])
    return rows.map(({ seq, line }, expected) => {
      if (seq !== expected) throw badLog(id, expected, `it is missing, and event ${seq} is there`)
      try {
        return decodeLine(Buffer.from(line), seq, id)
      } catch (cause) {
        throw badLog(id, seq, messageOf(cause), cause)
      }
    })
  }

  async stored(): Promise<readonly StoredSession[]> {
    const rows = await this.ask<{ id: string; title: string | null; updated: number }>('list', this.sql.stored)
    return rows.map(({ id, title, updated }) => ({
      id: SessionId(id),
      updatedAt: Math.floor(updated),
      ...(title !== null && { title }),
    }))
  }

  /** Why a session could not be taken. */
  async refusal(id: SessionId): Promise<Error> {
    const [there] = await this.ask<{ next: number; name: string | null }>(id, this.sql.holder, [id])
    if (there === undefined || there.next === 0) return sessionNotFound(id, this.database.shown)
    return sessionOpen(id, `in worker ${there.name}`)
  }

  /** @throws HarnessError `SESSION_READ_FAILED` */
  async ask<Row>(what: string, text: string, values: readonly unknown[] = []): Promise<Row[]> {
    try {
      return await this.database.query<Row>(text, values)
    } catch (cause) {
      throw readFailed(what === 'list' ? 'the list of sessions' : `session "${what}"`, cause)
    }
  }
}
