import { setTimeout as sleep } from 'node:timers/promises'
import { SessionId } from '@loopguard/llm'
import type { EventSink, SessionBackend, SessionEvent, StoredSession } from '@loopguard/session'
import type { Database } from './database.ts'
import { badLog, isOutage, sessionExists, sessionNotFound, sessionOpen, writeFailed } from './faults.ts'
import { Lease } from './lease.ts'
import { Logs } from './logs.ts'
import { PostgresSink, type SinkParts } from './sink.ts'
import { type Statements, statementsOf } from './statements.ts'
import { Writer } from './writer.ts'

export interface BackendOptions {
  /** How people call this process. */
  readonly worker: string
  /** How long this process may be silent before others take its sessions over, in milliseconds. */
  readonly leaseMs: number
  /** How many statements that append may be under way at once. */
  readonly lanes: number
  readonly schema: string
}

const RETRY_MS = 200
/** How long what is given back waits for the rest of this process, and for a database that is away, unless the lease is shorter. */
const MAX_PATIENCE_MS = 30_000

/** The sessions of one process, in tables that many processes share. A session is held by one of them; an epoch fences off the others. */
export class PostgresBackend implements SessionBackend {
  readonly database: Database
  readonly sql: Statements
  readonly lease: Lease
  readonly leaseMs: number
  private readonly logs: Logs
  private readonly sinks = new Map<SessionId, PostgresSink>()
  private readonly writer: Writer
  private readonly sinkParts: SinkParts
  private readonly listeners = new Set<(session: SessionId) => void>()
  /** What could not be given back yet. */
  private readonly owed: (() => Promise<unknown>)[] = []

  /** @throws HarnessError `BAD_DATABASE` for what cannot be the name of a schema. */
  constructor(database: Database, { worker, leaseMs, lanes, schema }: BackendOptions) {
    this.database = database
    this.leaseMs = leaseMs
    this.sql = statementsOf(schema)
    this.logs = new Logs(database, this.sql)
    this.writer = new Writer(database, this.sql, lanes, leaseMs)
    const verify = async (): Promise<void> => this.verify()
    const mail = (session: string): void => this.listeners.forEach((heard) => heard(SessionId(session)))
    this.lease = new Lease({ database, statements: this.sql, worker, leaseMs, verify, renewed: () => this.renewed(), mail })
    this.sinkParts = {
      shown: database.shown,
      closeWithinMs: this.patienceMs,
      isHeld: () => this.lease.isValid,
      ready: (sink) => this.writer.add(sink),
      release: async (sink) => this.release(sink),
    }
  }

  /** @throws HarnessError `DATABASE_POOLED`, `DATABASE_UNREACHABLE`, `DATABASE_REFUSED`. */
  start(): Promise<void> {
    return this.lease.start()
  }

  /** Waits for what is open as long as a lease, or 30 s, gives up the rest as a killed process would, and leaves. The database stays open. */
  async stop(): Promise<void> {
    const { elapsed, end } = deadline(this.patienceMs)
    for (let late = false; !late && this.sinks.size > 0;) late = await Promise.race([elapsed, sleep(10).then(() => false)])
    end()
    for (const id of this.sinks.keys()) await this.giveUp(id)
    await this.lease.stop()
  }

  create(id: SessionId): EventSink {
    const before = this.closing(id)
    const sink = this.add(new PostgresSink(id, this.sinkParts))
    void this.claimNew(sink, before)
    return sink
  }

  async load(id: SessionId): Promise<{ readonly events: SessionEvent[]; readonly log: EventSink }> {
    await this.closing(id)?.catch(() => {})
    const [held] = await this.logs.ask<{ epoch: number; next: number }>(id, this.sql.load, [this.lease.n, this.leaseMs, id])
    if (held === undefined) throw await this.logs.refusal(id)
    const sink = this.add(new PostgresSink(id, this.sinkParts, held))
    try {
      const events = await this.logs.eventsOf(id)
      if (events.length !== held.next) throw badLog(id, events.length, `the log ends here, and its head says ${held.next} events`)
      return { events, log: sink }
    } catch (refused) {
      sink.close()
      await sink.released?.catch(() => {})
      throw refused
    }
  }

  async read(id: SessionId): Promise<SessionEvent[]> {
    const events = await this.logs.eventsOf(id)
    if (events.length === 0) throw sessionNotFound(id, this.database.shown)
    return events
  }

  stored(): Promise<readonly StoredSession[]> {
    return this.logs.stored()
  }

  /** Heard with the id of each session that mail has come for, until the disposer that it returns is called. */
  onMail(heard: (session: SessionId) => void): () => void {
    this.listeners.add(heard)
    return () => this.listeners.delete(heard)
  }

  /** Lets a session go that is still open: its agent is cancelled as after a takeover, and any worker may go on with its log. */
  async giveUp(id: SessionId): Promise<void> {
    const sink = this.sinks.get(id)
    if (sink === undefined) return
    this.sinks.delete(id)
    sink.lose()
    if (sink.epoch !== undefined) await this.database.query(this.sql.giveUp, [id, sink.epoch]).catch(() => {})
  }

  /** Runs what gives something back, again with each renewal of the lease until it has succeeded. */
  async owe(work: () => Promise<unknown>): Promise<void> {
    await work().catch(() => this.owed.push(work))
  }

  private get patienceMs(): number {
    return Math.min(this.leaseMs, MAX_PATIENCE_MS)
  }

  /** @throws HarnessError `SESSION_OPEN` */
  private closing(id: SessionId): Promise<void> | undefined {
    const before = this.sinks.get(id)
    if (before !== undefined && before.released === undefined) throw sessionOpen(id, 'in this process')
    return before?.released
  }

  private add(sink: PostgresSink): PostgresSink {
    this.sinks.set(sink.id, sink)
    return sink
  }

  private async claimNew(sink: PostgresSink, before: Promise<void> | undefined): Promise<void> {
    const { id } = sink
    await before?.catch(() => {})
    for (;;) {
      try {
        const [row] = await this.database.query<{ epoch: number }>(this.sql.create, [this.lease.n, this.leaseMs, id])
        if (row === undefined) return sink.fail(await this.taken(id))
        sink.opened(row.epoch)
        // It was given up meanwhile.
        if (sink.broken !== undefined) await this.owe(async () => this.database.query(this.sql.release, [id, row.epoch]))
        return
      } catch (error) {
        if (sink.broken !== undefined) return
        if (!isOutage(error)) return sink.fail(writeFailed(id, this.database.shown, error))
        await sleep(RETRY_MS)
      }
    }
  }

  private async taken(id: SessionId): Promise<ReturnType<typeof sessionOpen>> {
    const [there] = await this.database.query<{ next: number; name: string | null }>(this.sql.holder, [id])
    return there?.next === 0 ? sessionOpen(id, `in worker ${there.name}`) : sessionExists(id)
  }

  /** The log is free again; a broken one is left as a dead process leaves it, so that it is repaired. */
  private async release(sink: PostgresSink): Promise<void> {
    const { id, epoch, broken, lost } = sink
    const text = broken === undefined ? this.sql.release : this.sql.abandon
    if (epoch !== undefined && !lost.aborted) {
      await this.owe(async () => this.database.query(text, [id, epoch], { timeoutMs: this.leaseMs }))
    }
    if (this.sinks.get(id) === sink) this.sinks.delete(id)
  }

  private renewed(): void {
    for (const sink of this.sinks.values()) sink.settle()
    for (const work of this.owed.splice(0)) void this.owe(work)
  }

  /** After the lease had run out: what was taken over meanwhile is lost, all else goes on. */
  private async verify(): Promise<void> {
    const held = [...this.sinks.values()].filter(({ epoch }) => epoch !== undefined)
    const ids = held.map(({ id }) => id)
    const rows = await this.database.query<{ id: string; epoch: number }>(this.sql.epochs, [ids], { timeoutMs: this.leaseMs })
    const epochs = new Map(rows.map(({ id, epoch }) => [id, epoch]))
    for (const sink of held) if (epochs.get(sink.id) !== sink.epoch) sink.lose()
  }
}

function deadline(ms: number): { readonly elapsed: Promise<true>; readonly end: () => void } {
  const { promise, resolve } = Promise.withResolvers<true>()
  const timer = setTimeout(() => resolve(true), ms)
  return { elapsed: promise, end: () => clearTimeout(timer) }
}
