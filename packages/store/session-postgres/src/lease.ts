import { setTimeout as sleep } from 'node:timers/promises'
import { Stopwatch } from './clock.ts'
import type { Database, Link } from './database.ts'
import { pidOf, pooled } from './pooler.ts'
import type { Statements } from './statements.ts'

export interface LeaseParts {
  readonly database: Database
  readonly statements: Statements
  /** How people call this worker. */
  readonly worker: string
  readonly leaseMs: number
  /** The lease had run out and is renewed: says which sessions are still ours before anything relies on it. May reject. */
  readonly verify: () => Promise<void>
  /** Told after that, and after each other renewal. */
  readonly renewed: () => void
  /** There is mail for a session. */
  readonly mail: (session: string) => void
}

/** The soonest that a lost connection is tried again, in milliseconds. */
const RETRY_MS = 200

/**
 * What says that this worker lives: a row that is renewed every third of `leaseMs`, and an advisory lock on a connection of its own,
 * which ends with the process. The same connection hears of mail.
 */
export class Lease {
  /** The number of this worker, never given twice. */
  n = 0
  private readonly parts: LeaseParts
  private link: Link | undefined
  private pid = 0
  private isLocked = false
  private held: Stopwatch | undefined
  /** Since the lease was last found to have run out. */
  private sinceLapse: Stopwatch | undefined
  private readonly stopping = new AbortController()
  private keeping: Promise<void> = Promise.resolve()

  constructor(parts: LeaseParts) {
    this.parts = parts
  }

  /** @throws HarnessError `DATABASE_POOLED`, `DATABASE_UNREACHABLE`, `DATABASE_REFUSED`. */
  async start(): Promise<void> {
    const { database, statements, worker, leaseMs } = this.parts
    await database.query(statements.sweep)
    const [row] = await database.query<{ n: number }>(statements.register, [worker, leaseMs])
    this.n = row?.n ?? 0
    await this.connect()
    await this.renew(true)
    this.keeping = this.keep()
  }

  /** Whether nobody else may take our sessions now, by our own clock. */
  get isValid(): boolean {
    return this.held !== undefined && this.held.elapsedMs < this.parts.leaseMs
  }

  /**
   * Whether others may be judged. After a time in which this worker could not reach the database, others may be about to come back too:
   * they have as long as a lease for it.
   */
  get mayJudge(): boolean {
    return this.isValid && (this.sinceLapse === undefined || this.sinceLapse.elapsedMs > this.parts.leaseMs)
  }

  /** Gives it up: what this worker still holds is free for others. */
  async stop(): Promise<void> {
    this.stopping.abort()
    await this.keeping
    this.held = undefined
    await this.parts.database.query(this.parts.statements.unregister, [this.n]).catch(() => {})
    await this.link?.end()
  }

  private async keep(): Promise<void> {
    const { leaseMs } = this.parts
    while (!this.stopping.signal.aborted) {
      const isUp = this.link?.gone.aborted === false && this.isValid && this.isLocked
      await this.pause(isUp ? leaseMs / 3 : Math.min(RETRY_MS, leaseMs / 3))
      if (this.stopping.signal.aborted) return
      try {
        if (this.link === undefined || this.link.gone.aborted) await this.connect()
        await this.renew(false)
      } catch {
        // Until it can be renewed, barriers wait.
        await this.link?.end()
        this.link = undefined
      }
    }
  }

  /** Shorter when this worker stops or the connection goes. Leaves nothing on either signal, for they live long. */
  private async pause(ms: number): Promise<void> {
    const { gone } = this.link ?? {}
    const signals = gone === undefined || gone.aborted ? [this.stopping.signal] : [this.stopping.signal, gone]
    const waking = new AbortController()
    const wake = (): void => waking.abort()
    for (const signal of signals) signal.addEventListener('abort', wake)
    await sleep(ms, undefined, { signal: waking.signal }).catch(() => {})
    for (const signal of signals) signal.removeEventListener('abort', wake)
  }

  private async connect(): Promise<void> {
    const { database, statements, mail } = this.parts
    this.isLocked = false
    const link = (this.link = await database.connect())
    this.pid = await pidOf(link)
    const [names] = await link.query<{ oid: number }>(statements.space)
    await link.listen(`loopguard_${names?.oid}`, mail)
  }

  private async renew(isFirst: boolean): Promise<void> {
    const { statements, worker, leaseMs, verify, renewed } = this.parts
    const link = this.link as Link
    const asked = new Stopwatch()
    const [row] = await link.query<{ pid: number }>(statements.renew, [this.n, worker, leaseMs], { timeoutMs: leaseMs })
    if (row?.pid !== this.pid) throw pooled(this.parts.database.shown)
    // What is left of an earlier connection may hold it for a moment; until it goes, that counts as ours.
    if (!this.isLocked) this.isLocked = await lock(link, statements, this.n)
    if (!isFirst && !this.isValid) {
      this.sinceLapse = new Stopwatch()
      await verify()
    }
    this.held = asked
    renewed()
  }
}

async function lock(link: Link, statements: Statements, n: number): Promise<boolean> {
  const [names] = await link.query<{ space: number }>(statements.space)
  const [row] = await link.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1::int, $2::int) AS locked', [names?.space, n])
  return row?.locked === true
}
