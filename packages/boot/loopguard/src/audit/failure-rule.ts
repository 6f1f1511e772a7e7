import { createFailureTracker, type FailureConfig, type RepeatConfig } from '@loopguard/repeat'
import type { AuditedCall, Rule, Series } from './rules.ts'

/** What a repeated-failure-reminder of this configuration says, beside a repeat-tool-reminder if there is one. */
export class FailureRule implements Rule {
  readonly name = 'repeated-failure-reminder'
  private readonly tracker
  private readonly agent = {}
  private readonly series = new Map<string, Series>()

  constructor(config: FailureConfig, quiet: RepeatConfig | undefined) {
    this.tracker = createFailureTracker(config, { quiet })
  }

  look(call: AuditedCall): Series | undefined {
    const text = this.tracker.observe(this.agent, call.name, call.args, call.outcome, call.stepCalls)
    const failure = this.tracker.save(this.agent)?.failures.find(({ identity }) => identity === call.identity)
    if (failure === undefined || !call.outcome.isError) return undefined
    const known = this.series.get(call.identity)
    const series = known === undefined || failure.count === 1 ? { calls: [] } : known
    this.series.set(call.identity, series)
    series.calls.push(call)
    return text === undefined ? undefined : series
  }

  reset(): void {
    this.tracker.reset(this.agent)
  }
}
