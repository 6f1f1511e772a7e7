import { setTimeout as sleep } from 'node:timers/promises'
import { HarnessError } from '@loopguard/kit'
import type { Database } from './database.ts'
import { isConflict, isOutage, writeFailed } from './faults.ts'
import type { Chunk, PostgresSink } from './sink.ts'
import type { Statements } from './statements.ts'

const MAX_SESSIONS = 256
/** Of one statement: more would keep the others waiting. */
const MAX_CHARS = 4_000_000
const RETRY_MS = 200

/** The sessions of one process share statements: what has come together while one is under way goes with the next. */
export class Writer {
  /** For figures. */
  statements = 0
  private readonly database: Database
  private readonly sql: Statements
  private readonly lanes: number
  private readonly timeoutMs: number
  private readonly waiting = new Set<PostgresSink>()
  private running = 0
  private isDue = false

  /**
   * @param lanes - how many statements may be under way at once; one session is in one of them at most.
   * @param timeoutMs - after which a statement counts as unanswered.
   */
  constructor(database: Database, sql: Statements, lanes: number, timeoutMs: number) {
    this.database = database
    this.sql = sql
    this.lanes = lanes
    this.timeoutMs = timeoutMs
  }

  add(sink: PostgresSink): void {
    this.waiting.add(sink)
    if (this.running === this.lanes || this.isDue) return
    this.isDue = true
    // What is appended in the same breath, by any session, goes with it.
    setImmediate(() => {
      this.isDue = false
      void this.run()
    })
  }

  private async run(): Promise<void> {
    if (this.running === this.lanes) return
    this.running++
    for (let chunks = this.next(); chunks.length > 0; chunks = this.next()) await this.commit(chunks)
    this.running--
  }

  private next(): Chunk[] {
    const chunks: Chunk[] = []
    let left = MAX_CHARS
    for (const sink of this.waiting) {
      if (chunks.length === MAX_SESSIONS || left <= 0) break
      this.waiting.delete(sink)
      const chunk = sink.take(left)
      if (chunk === undefined) continue
      chunks.push(chunk)
      for (const { text } of chunk.entries) left -= text.length
    }
    // Rows are locked in one order.
    return chunks.sort((a, b) => (a.sink.id < b.sink.id ? -1 : 1))
  }

  /** Until each is durable or its sink is broken. Through an outage it waits. */
  private async commit(chunks: Chunk[]): Promise<void> {
    let left = chunks
    while ((left = left.filter(({ sink }) => sink.broken === undefined)).length > 0) {
      try {
        left = await this.attempt(left)
      } catch (error) {
        if (isOutage(error)) await sleep(RETRY_MS)
        else if (isConflict(error)) continue
        else if (left.length > 1) {
          // The fault of one is not the fault of all.
          for (const chunk of left) await this.commit([chunk])
          return
        } else return left[0]?.sink.fail(writeFailed(left[0].sink.id, this.database.shown, error))
      }
    }
  }

  /** @returns those that are to be tried again. */
  private async attempt(chunks: readonly Chunk[]): Promise<Chunk[]> {
    this.statements++
    const rows = await this.database.query<{ id: string }>(this.sql.append, valuesOf(chunks), { name: 'append', timeoutMs: this.timeoutMs })
    const written = new Set(rows.map(({ id }) => id))
    const refused: Chunk[] = []
    for (const chunk of chunks) {
      if (written.has(chunk.sink.id)) chunk.sink.written(chunk)
      else refused.push(chunk)
    }
    return refused.length === 0 ? [] : this.judge(refused)
  }

  /** A statement whose answer was lost may have taken effect; otherwise only another process can have moved the epoch. */
  private async judge(chunks: readonly Chunk[]): Promise<Chunk[]> {
    const ids = chunks.map(({ sink }) => sink.id)
    const rows = await this.database.query<{ id: string; epoch: number; next: number }>(this.sql.epochs, [ids], {
      timeoutMs: this.timeoutMs,
    })
    const heads = new Map(rows.map((row) => [row.id, row]))
    return chunks.filter((chunk) => {
      const { sink, epoch, first, entries } = chunk
      const head = heads.get(sink.id)
      if (head === undefined || head.epoch !== epoch) sink.lose()
      else if (head.next === first + entries.length) sink.written(chunk)
      else if (head.next === first) return true
      else sink.fail(new HarnessError(`session "${sink.id}" has ${head.next} events, expected ${first}`, 'SESSION_WRITE_FAILED'))
      return false
    })
  }
}

function valuesOf(chunks: readonly Chunk[]): unknown[] {
  const heads = chunks.map(({ sink, epoch, first, entries }) => {
    const turn = entries.findLast((entry) => entry.turn !== undefined)?.turn
    return {
      id: sink.id,
      epoch,
      first,
      n: entries.length,
      busy: turn === undefined ? null : turn === 'started',
      done: entries.some((entry) => entry.turn === 'ended'),
      title: entries.find((entry) => entry.title !== undefined)?.title ?? null,
    }
  })
  const lines = chunks.flatMap(({ sink, first, entries }) => entries.map(({ text }, at) => ({ id: sink.id, seq: first + at, text })))
  const taken = chunks.flatMap(({ sink, entries }) => entries.flatMap(({ mail }) => (mail === undefined ? [] : [{ id: sink.id, mail }])))
  return [
    heads.map(({ id }) => id),
    heads.map(({ epoch }) => epoch),
    heads.map(({ first }) => first),
    heads.map(({ n }) => n),
    heads.map(({ busy }) => busy),
    heads.map(({ done }) => done),
    heads.map(({ title }) => title),
    lines.map(({ id }) => id),
    lines.map(({ seq }) => seq),
    lines.map(({ text }) => text),
    taken.map(({ id }) => id),
    taken.map(({ mail }) => mail),
  ]
}
