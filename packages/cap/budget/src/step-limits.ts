import type { Agent } from '@loopguard/agent-loop'
import type { CancelCause, Session } from '@loopguard/session'
import type { Ledger } from './ledger.ts'
import type { Limit, SetLimit } from './limits.ts'
import type { Notices } from './notices.ts'

/** Why a turn was `aborted` by a limit. */
export interface BudgetCause extends CancelCause {
  readonly kind: 'budget'
  readonly limit: Limit
}

/** The limits that are asked before each step: those of steps, tokens and time. */
export class StepLimits {
  private readonly limits: readonly SetLimit[]
  private readonly ledgerOf: (session: Session) => Ledger
  private readonly notices: Notices

  constructor(limits: readonly SetLimit[], ledgerOf: (session: Session) => Ledger, notices: Notices) {
    this.limits = limits
    this.ledgerOf = ledgerOf
    this.notices = notices
  }

  /** Whether the step `step` must not be entered. */
  forbid({ session }: Agent, step: number): boolean {
    const reached = this.reached(session, 0)
    this.notices.tell(session, reached, step)
    return reached.length > 0
  }

  /** A step was started. One that must not be, which a listener outside of ours has let in, asks no model. */
  check(agent: Agent): void {
    this.stop(agent, this.reached(agent.session, 1))
  }

  /** Cancels what runs. What waits in the inbox stays there. */
  stop(agent: Agent, reached: readonly SetLimit[]): void {
    const [first] = reached
    if (first === undefined) return
    const { session } = agent
    this.notices.tell(session, reached, Math.max(1, this.ledgerOf(session).steps))
    const cause: BudgetCause = { kind: 'budget', limit: first.limit }
    agent.cancel(cause, { keepInbox: true })
  }

  private reached(session: Session, stepsAhead: number): readonly SetLimit[] {
    const ledger = this.ledgerOf(session)
    const now = Date.now()
    return this.limits.filter((limit) => ledger.used(limit, now) - (limit.counts === 'steps' ? stepsAhead : 0) >= limit.value)
  }
}
