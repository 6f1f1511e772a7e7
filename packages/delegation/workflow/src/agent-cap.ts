import type { HarnessError } from '@loopguard/kit'
import { agentCap, cancelled } from './failures.ts'

/** After so many refused agents a run is cancelled. */
export const MAX_REFUSALS = 10

/** How many agents a run may make, and has made, those of the runs inside it included. */
export class AgentCap {
  private readonly max: number
  private readonly outer: AgentCap | undefined
  private readonly giveUp: (reason: HarnessError) => void
  private made = 0
  private refused = 0

  /** @param giveUp - called when the program goes on after {@link MAX_REFUSALS} refusals. */
  constructor(max: number, outer: AgentCap | undefined, giveUp: (reason: HarnessError) => void) {
    this.max = max
    this.outer = outer
    this.giveUp = giveUp
  }

  /** Counts one agent, here and in every run around this one, or returns why there may be none: `AGENT_CAP` of the first that is full. */
  take(): HarnessError | undefined {
    const chain = this.chain()
    const full = chain.find(({ made, max }) => made >= max)
    if (full !== undefined) return full.refuse()
    for (const cap of chain) cap.made++
    return undefined
  }

  private chain(): readonly AgentCap[] {
    return this.outer === undefined ? [this] : [this, ...this.outer.chain()]
  }

  private refuse(): HarnessError {
    const refusal = agentCap(this.max)
    if (++this.refused >= MAX_REFUSALS) this.giveUp(cancelled(this.refused, refusal))
    return refusal
  }
}
