import type { Agent, PreStepEvent } from '@loopguard/agent-loop'
import { type Chain, createRepeatTracker, type RepeatTracker } from '@loopguard/repeat'
import type { Session } from '@loopguard/session'
import type { ToolExecution } from '@loopguard/tools'
import type { Settings } from './config.ts'
import type { Ledger } from './ledger.ts'
import type { SetLimit } from './limits.ts'
import type { Notices } from './notices.ts'

interface Verdict {
  readonly token: ToolExecution['token']
  readonly reason: string | undefined
  isDone: boolean
}

/** The limits that are asked before each tool call. */
export class CallLimits {
  private readonly limits: readonly SetLimit[]
  private readonly settings: Settings
  private readonly ledgerOf: (session: Session) => Ledger
  private readonly notices: Notices
  private readonly equal: EqualCalls | undefined
  private latest: Verdict | undefined
  /** Verdicts that will be asked for again, when another call came between. */
  private readonly earlier = new WeakMap<ToolExecution['token'], Verdict>()

  constructor(settings: Settings, limits: readonly SetLimit[], ledgerOf: (session: Session) => Ledger, notices: Notices) {
    this.settings = settings
    this.limits = limits
    this.ledgerOf = ledgerOf
    this.notices = notices
    const equal = limits.find(({ counts }) => counts === 'equal calls')
    this.equal = equal && new EqualCalls(equal.value, settings)
  }

  /** What a user says may ask for the same call again. */
  hear({ agent, messages }: PreStepEvent): void {
    if (messages.some(({ source }) => source.kind === 'user')) this.equal?.forget(agent)
  }

  /**
   * Why a call must not run, as the model reads it; `undefined` when it may. A call counts once, however often it is asked about.
   * @param isLast - it will not be asked about again.
   */
  judge(exec: ToolExecution, isLast: boolean): string | undefined {
    const { latest } = this
    let verdict = latest?.token === exec.token ? latest : this.earlier.get(exec.token)
    if (verdict === undefined) {
      if (latest?.isDone === false) this.earlier.set(latest.token, latest)
      this.latest = verdict = { token: exec.token, reason: this.reasonAgainst(exec), isDone: false }
    }
    verdict.isDone ||= isLast
    return verdict.reason
  }

  private reasonAgainst(exec: ToolExecution): string | undefined {
    const { session } = (exec.agent ?? {}) as Partial<Agent>
    if (session === undefined || exec.parent !== undefined || !this.settings.tracks(exec.name)) return undefined
    const isEqual = this.equal?.isTooMany(exec.agent as Agent, exec) === true
    const ledger = this.ledgerOf(session)
    const isReached = (limit: SetLimit): boolean => (limit.counts === 'equal calls' ? isEqual : ledger.used(limit, 0) >= limit.value)
    const first = this.limits.find(isReached)
    if (first === undefined) return undefined
    this.notices.tell(session, this.limits.filter(isReached), Math.max(1, ledger.steps))
    return `limit reached: ${wordsOf(first)} (budget.${first.limit})`
  }
}

function wordsOf({ counts, per, value }: SetLimit): string {
  const calls = value === 1 ? 'call' : 'calls'
  if (counts === 'equal calls') return `${value} equal ${calls} in a row`
  return `${value} tool ${calls} ${per === 'turn' ? 'in this turn' : 'by this agent'}`
}

/** The run of equal calls that each agent is in, by the rules of the reminder and apart from it. */
class EqualCalls {
  private readonly max: number
  private readonly tracker: RepeatTracker

  constructor(max: number, { include, exclude }: Settings) {
    this.max = max
    this.tracker = createRepeatTracker({ thresholds: [max + 1], include, exclude })
  }

  /** Counts a call, also one too many: then the next equal one is so too. */
  isTooMany(agent: Agent, { name, arguments: args }: ToolExecution): boolean {
    if (this.tracker.observe(agent, name, args) === undefined) return false
    this.tracker.load(agent, { ...(this.tracker.save(agent) as Chain), length: this.max })
    return true
  }

  forget(agent: Agent): void {
    this.tracker.reset(agent)
  }
}
