import type { Agent, PreStepEvent } from '@loopguard/agent-loop'
import { type Chain, createRepeatTracker, type RepeatTracker } from '@loopguard/repeat'
import type { Session } from '@loopguard/session'
import type { ToolExecution } from '@loopguard/tools'
import type { Settings } from './config.ts'
import type { Ledger } from './ledger.ts'
import type { SetLimit } from './limits.ts'
import type { Notices } from './notices.ts'

/** The limits that are asked before each tool call. */
export class CallLimits {
  private readonly limits: readonly SetLimit[]
  private readonly settings: Settings
  private readonly ledgerOf: (session: Session) => Ledger
  private readonly notices: Notices
  private readonly equal: EqualCalls | undefined
  /** A call is judged once, and may be asked about twice. */
  private readonly verdicts = new WeakMap<ToolExecution, { readonly reason: string | undefined }>()

  constructor(settings: Settings, limits: readonly SetLimit[], ledgerOf: (session: Session) => Ledger, notices: Notices) {
    this.settings = settings
    this.limits = limits
    this.ledgerOf = ledgerOf
    this.notices = notices
    const equal = limits.find(({ counts }) => counts === 'equal calls')
    this.equal = equal && new EqualCalls(equal.value, settings)
  }

  /** Why a call must not run, as the model reads it; `undefined` when it may. */
  judge(exec: ToolExecution): string | undefined {
    let verdict = this.verdicts.get(exec)
    if (verdict === undefined) this.verdicts.set(exec, (verdict = { reason: this.reasonAgainst(exec) }))
    return verdict.reason
  }

  /** What a user says may ask for the same call again. */
  hear({ agent, messages }: PreStepEvent): void {
    if (messages.some(({ source }) => source.kind === 'user')) this.equal?.forget(agent)
  }

  private reasonAgainst({ agent, parent, name, arguments: args }: ToolExecution): string | undefined {
    const { session } = (agent ?? {}) as Partial<Agent>
    if (session === undefined || parent !== undefined || !this.settings.tracks(name)) return undefined
    const isEqual = this.equal?.isTooMany(agent as Agent, name, args)
    const ledger = this.ledgerOf(session)
    const reached = this.limits.filter((limit) => (limit.counts === 'equal calls' ? isEqual : ledger.used(limit, 0) >= limit.value))
    const [first] = reached
    if (first === undefined) return undefined
    this.notices.tell(session, reached, Math.max(1, ledger.steps))
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

  /** Counts a call, also when it is one too many: then the next equal one is so too. */
  isTooMany(agent: Agent, name: string, args: unknown): boolean {
    if (this.tracker.observe(agent, name, args) === undefined) return false
    this.tracker.load(agent, { ...(this.tracker.save(agent) as Chain), length: this.max })
    return true
  }

  forget(agent: Agent): void {
    this.tracker.reset(agent)
  }
}
