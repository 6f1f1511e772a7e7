import type { Agent, AgentLoop, AgentOptions } from '@loopguard/agent-loop'
import { codeOf, messageOf } from '@loopguard/kit'
import type { SessionId } from '@loopguard/llm'
import type { PostgresBackend } from './backend.ts'
import { Mailbox } from './mailbox.ts'
import { Running } from './running.ts'
import { type OnTakeover, wakeUp } from './takeover.ts'

export interface WorkerOptions {
  readonly loop: AgentLoop
  /** How many agents this worker runs at once. */
  readonly max: number
  /** What an agent is made with that this worker takes. */
  readonly optionsOf: (id: SessionId) => AgentOptions & { readonly onTakeover?: OnTakeover }
  /** Told what an operator may want to know, one line each. */
  readonly tell: (line: string) => void
}

/** A session that was claimed. */
interface Claim {
  readonly id: SessionId
  readonly epoch: number
  readonly next: number
  readonly parked: string | null
}

/** An agent that runs here, or is about to. */
interface Entry {
  done: Promise<void>
  /** There once it has been made. */
  agent?: Running
}

/** How often a worker looks for what nobody told it of: a dead worker's sessions, a lost notification. */
const LOOK_MS = 500
const CLAIM_AT_ONCE = 32
/** How long what was given up is waited for. */
const GRACE_MS = 2000
/** What may be over in a moment, and what another worker has done meanwhile; the session stays as it is. */
const PASSING = new Set([
  'SESSION_READ_FAILED',
  'SESSION_WRITE_FAILED',
  'DATABASE_UNREACHABLE',
  'SESSION_LOST',
  'SESSION_OPEN',
  'SESSION_EXISTS',
  'SESSION_NOT_FOUND',
])

/** Claims agents that have mail, or whose worker has died, runs each until it is idle, and gives it back. */
export class Worker {
  private readonly backend: PostgresBackend
  private readonly options: WorkerOptions
  private readonly maxTakeovers: number
  private readonly mailbox: Mailbox
  private readonly running = new Map<SessionId, Entry>()
  private readonly timer: NodeJS.Timeout
  private readonly deafen: () => void
  private isClaiming = false
  private isAgain = false
  private isDraining = false

  constructor(backend: PostgresBackend, maxTakeovers: number, options: WorkerOptions) {
    this.backend = backend
    this.maxTakeovers = maxTakeovers
    this.options = options
    this.mailbox = new Mailbox(backend.database, backend.sql)
    this.deafen = backend.onMail((session) => this.heard(session))
    this.timer = setInterval(() => this.look(), LOOK_MS)
    this.look()
  }

  /** The agents that run now. */
  get agents(): readonly SessionId[] {
    return [...this.running.keys()]
  }

  /**
   * Claims nothing more, lets what runs end what it has begun, and gives up what has not ended within `limitMs`: such an agent is
   * cancelled, its turn stays open in the log, and the next worker takes it over.
   * @returns whether all have ended.
   */
  async drain(limitMs: number): Promise<boolean> {
    this.isDraining = true
    this.deafen()
    clearInterval(this.timer)
    for (const { agent } of this.running.values()) agent?.leave()
    if (await this.endsWithin(limitMs)) return true
    const late = this.agents
    this.options.tell(`${late.length} agents have not ended within ${limitMs} ms: they are left to the next worker`)
    await Promise.all(late.map(async (id) => this.backend.giveUp(id)))
    await this.endsWithin(GRACE_MS)
    return false
  }

  private async endsWithin(limitMs: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), limitMs)))
    const ended = Promise.all([...this.running.values()].map(({ done }) => done)).then(() => true)
    return Promise.race([ended, late]).finally(() => clearTimeout(timer))
  }

  private heard(session: SessionId): void {
    const entry = this.running.get(session)
    if (entry === undefined) this.look()
    else void entry.agent?.bring().catch(() => {})
  }

  private look(): void {
    if (this.isDraining) return
    this.isAgain = true
    if (this.isClaiming) return
    this.isClaiming = true
    void this.claimAll()
      // Without a database there is nothing to claim; the next look tries again.
      .catch(() => {})
      .finally(() => (this.isClaiming = false))
  }

  private async claimAll(): Promise<void> {
    while (this.isAgain && !this.isDraining) {
      this.isAgain = false
      for (let claims = await this.claim(); claims.length > 0; claims = await this.claim()) {
        for (const claim of claims) this.take(claim)
      }
    }
  }

  /** What the dead have left comes first. */
  private async claim(): Promise<Claim[]> {
    const { database, sql, lease, leaseMs } = this.backend
    const free = Math.min(CLAIM_AT_ONCE, this.options.max - this.running.size)
    if (free <= 0 || this.isDraining || !lease.isValid) return []
    const orphans = lease.mayJudge ? await database.query<Claim>(sql.claimOrphans, [lease.n, leaseMs, free, this.maxTakeovers]) : []
    if (orphans.length > 0) return orphans
    return database.query<Claim>(sql.claimMail, [lease.n, free])
  }

  private take(claim: Claim): void {
    const { id, parked } = claim
    if (parked !== null) return this.options.tell(`agent "${id}" is parked: ${parked} (loopguard send --unpark lets it go on)`)
    // It is just being given back here: the database has said so, and our answer is still on its way.
    const before = this.running.get(id)
    if (before !== undefined) return void before.done.then(() => this.take(claim))
    const entry: Entry = { done: Promise.resolve() }
    this.running.set(id, entry)
    entry.done = this.run(claim, entry).then((looksAgain) => {
      this.running.delete(id)
      if (looksAgain) this.look()
    })
  }

  /** @returns whether there may be more to do at once. */
  private async run(claim: Claim, entry: Entry): Promise<boolean> {
    const { id, next } = claim
    try {
      const { loop, optionsOf } = this.options
      const { onTakeover = 'wait', ...options } = optionsOf(id)
      const agent = next === 0 ? loop.create(id, options) : await loop.resume(id, options)
      try {
        await this.runAgent(agent, onTakeover, entry)
      } finally {
        await agent.dispose({ keepInbox: true })
      }
      return true
    } catch (error) {
      await this.failed(claim, error)
      return false
    }
  }

  private async runAgent(agent: Agent, onTakeover: OnTakeover, entry: Entry): Promise<void> {
    const running = (entry.agent = new Running(agent, this.mailbox, this.options.tell))
    if (this.isDraining) running.leave()
    const first = wakeUp(agent.session, onTakeover)
    if (first !== undefined) agent.followup(first)
    await running.run()
  }

  private async failed({ id, epoch }: Claim, error: unknown): Promise<void> {
    const { backend } = this
    const { database, sql, lease } = backend
    const isPassing = PASSING.has(codeOf(error) ?? '')
    this.options.tell(`agent "${id}" ${isPassing ? 'could not go on' : 'is parked'}: ${messageOf(error)}`)
    await backend.owe(async () =>
      isPassing ? database.query(sql.abandonClaim, [id, lease.n]) : database.query(sql.park, [id, lease.n, messageOf(error), epoch]),
    )
  }
}
