import { createRepeatTracker, type RepeatConfig } from '@loopguard/repeat'
import type { AuditedCall, Rule, Series } from './rules.ts'

/** What a repeat-tool-reminder of this configuration says. */
export class RepeatRule implements Rule {
  readonly name = 'repeat-tool-reminder'
  /** How many calls were equal to the tracked call before. */
  repeated = 0
  private readonly tracker
  private readonly agent = {}
  private run: Series = { calls: [] }

  constructor(config: RepeatConfig) {
    this.tracker = createRepeatTracker(config)
  }

  look(call: AuditedCall): Series | undefined {
    const before = JSON.stringify(this.tracker.save(this.agent))
    const text = this.tracker.observe(this.agent, call.name, call.args, call.outcome)
    const after = this.tracker.save(this.agent)
    // A call that is not tracked leaves the chain as it was.
    if (after === undefined || JSON.stringify(after) === before) return undefined
    if (after.length === 1) this.run = { calls: [] }
    else this.repeated++
    this.run.calls.push(call)
    return text === undefined ? undefined : this.run
  }

  /** Whether calls of a tool count. */
  tracks(tool: string): boolean {
    const probe = {}
    this.tracker.observe(probe, tool, null)
    return this.tracker.save(probe) !== undefined
  }

  reset(): void {
    this.tracker.reset(this.agent)
  }
}
