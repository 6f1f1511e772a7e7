import type { Agent } from '@loopguard/agent-loop'
import type { SessionEvent } from '@loopguard/session'
import type { ToolExecution } from '@loopguard/tools'

/** The open step of a log: which reminders its results showed, and whether each stands where it belongs. */
export class StepLog {
  private answered = false
  private readonly unanswered = new Set<string>()
  /** Calls in the log, and whether a result of theirs was seen. */
  private readonly called = new Map<string, boolean>()
  /** Reminders that some result showed. */
  private readonly shown = new Set<string>()
  /** Those that are not in the log yet, with the call that they belong to. */
  private readonly owed = new Map<string, string>()
  private agent: ToolExecution['agent']

  /** A call of the step's agent has its result. */
  show({ callId, agent }: ToolExecution, reminders: readonly string[]): void {
    this.agent = agent
    for (const id of reminders) this.shown.add(id)
    // Whoever runs a call on their own account keeps its contexts.
    const seen = this.called.get(callId)
    if (seen === undefined) return
    this.called.set(callId, true)
    if (!seen) for (const id of reminders) this.owed.set(id, callId)
    // Two results for one id: which of them the loop has asked for cannot be told.
    else for (const [id, owner] of this.owed) if (owner === callId) this.owed.delete(id)
  }

  /** Says what is wrong with the next event of the log. */
  next(event: SessionEvent, isReminder: (message: SessionEvent<'user/message'>['data']) => boolean): string | undefined {
    switch (event.type) {
      case 'assistant/message':
        this.answered = true
        for (const block of event.data.message.content) if (block.type === 'tool-call') this.unanswered.add(block.id)
        return undefined
      case 'tool/call':
        this.called.set(event.data.callId, false)
        return undefined
      case 'tool/result':
        this.unanswered.delete(event.data.message.source.callId)
        return undefined
      case 'user/message':
        this.owed.delete(event.data.id)
        // What stands before the answer of the model was claimed from the inbox, and may be of any age.
        if (!this.answered || !isReminder(event.data)) return undefined
        if (this.unanswered.size > 0) return `a reminder (event ${event.seq}) stands before the last result of its step`
        // One whose result nobody was let hear may have shown it.
        if (this.shown.has(event.data.id) || [...this.called.values()].includes(false)) return undefined
        return `a reminder (event ${event.seq}) that no result of its step showed`
      case 'step/end': {
        // Another harness may hand contexts to the inbox, from which the next step claims and logs them.
        for (const { id } of (this.agent as Partial<Agent> | undefined)?.inbox?.nextStep ?? []) this.owed.delete(id)
        return this.owed.size === 0 ? undefined : `the step ends without ${this.owed.size} of the reminders that its results showed`
      }
      default:
        return undefined
    }
  }
}
