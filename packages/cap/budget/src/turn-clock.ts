import type { Agent } from '@loopguard/agent-loop'
import type { Session } from '@loopguard/session'
import type { Ledger } from './ledger.ts'
import type { SetLimit } from './limits.ts'
import type { StepLimits } from './step-limits.ts'

/** Node fires anything longer after one millisecond. */
const LONGEST_MS = 2_147_483_647

/** One timer for each turn that runs, for the limit of time that is over first. The log's clock decides; the timer only looks at it. */
export class TurnClock {
  private readonly timers = new Map<Agent, NodeJS.Timeout>()
  /** Of the turn that runs. */
  private readonly signals = new WeakMap<Agent, AbortSignal>()
  private readonly limits: readonly SetLimit[]
  private readonly ledgerOf: (session: Session) => Ledger
  private readonly steps: StepLimits

  constructor(limits: readonly SetLimit[], ledgerOf: (session: Session) => Ledger, steps: StepLimits) {
    this.limits = limits.filter(({ counts }) => counts === 'ms')
    this.ledgerOf = ledgerOf
    this.steps = steps
  }

  /** A turn has started, or runs already. */
  start(agent: Agent): void {
    this.signals.delete(agent)
    this.arm(agent)
  }

  /** By the signal a turn is known that was cancelled otherwise. */
  note(agent: Agent, signal: AbortSignal): void {
    this.signals.set(agent, signal)
  }

  disarm(agent: Agent): void {
    clearTimeout(this.timers.get(agent))
    this.timers.delete(agent)
  }

  stop(): void {
    for (const timer of this.timers.values()) clearTimeout(timer)
    this.timers.clear()
  }

  private arm(agent: Agent): void {
    this.disarm(agent)
    const ledger = this.ledgerOf(agent.session)
    if (this.limits.length === 0 || !ledger.isOpen) return
    const left = this.limits.map((limit) => limit.value - ledger.used(limit, Date.now()))
    const timer = setTimeout(() => this.look(agent), Math.min(Math.max(1, Math.min(...left)), LONGEST_MS))
    this.timers.set(agent, timer)
  }

  private look(agent: Agent): void {
    this.timers.delete(agent)
    const ledger = this.ledgerOf(agent.session)
    const isOver = agent.status !== 'running' || !ledger.isOpen
    // What was cancelled has its cause, and may have been sent a message since: a second cancel would keep that waiting.
    if (isOver || this.signals.get(agent)?.aborted === true) return
    const now = Date.now()
    const reached = this.limits.filter((limit) => ledger.used(limit, now) >= limit.value)
    if (reached.length === 0) this.arm(agent)
    else this.steps.stop(agent, reached)
  }
}
