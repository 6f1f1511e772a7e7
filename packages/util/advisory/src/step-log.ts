import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@loopguard/agent-loop'
import { type InvariantFailure, listen } from '@loopguard/invariants/companion'
import type { UserMessage } from '@loopguard/llm'

/** Checks that what results show stands in the log of their step, behind the last of them. A step of which too little is known passes. */
export function watchLog(ctx: Context, fail: InvariantFailure, remindersIn: (messages?: readonly UserMessage[]) => string[]): void {
  /** Of each open step: calls without a result in its log, calls whose result was seen, and reminders that those showed and it has not. */
  const steps = new Map<string, Record<'open' | 'seen' | 'owed', Set<string>> & { agent?: Partial<Agent> | undefined }>()
  listen(ctx, 'tools/result', ({ agent, callId }, { additionalContexts }) => {
    const step = agent && steps.get(agent.id)
    // Which of two results for one id the loop has asked for cannot be told.
    if (agent && step?.seen.has(callId) === true) steps.delete(agent.id)
    if (!step?.open.has(callId)) return
    step.seen.add(callId)
    step.agent = agent
    for (const id of remindersIn(additionalContexts)) step.owed.add(id)
  })
  listen(ctx, 'session/event', ({ id }, { type, data, seq }) => {
    const step = steps.get(id)
    if (type === 'assistant/message') {
      const calls = data.message.content.flatMap((block) => (block.type === 'tool-call' ? [block.id as string] : []))
      steps.set(id, { open: new Set(calls), seen: new Set(), owed: new Set() })
    } else if (step !== undefined && type === 'tool/result') {
      if (step.open.delete(data.message.source.callId) && !step.seen.has(data.message.source.callId)) steps.delete(id)
    } else if (step !== undefined && type === 'user/message' && remindersIn([data]).length > 0) {
      const isOwed = step.owed.delete(data.id)
      if (step.open.size > 0) fail(`session "${id}": a reminder (event ${seq}) stands before the last result of its step`)
      if (!isOwed) fail(`session "${id}": a reminder (event ${seq}) that no result of its step showed`)
    } else if (step !== undefined && type === 'step/end') {
      steps.delete(id)
      // Another harness may hand contexts to the inbox, from which the next step claims and logs them.
      for (const queued of step.agent?.inbox?.nextStep ?? []) step.owed.delete(queued.id)
      if (step.owed.size > 0) fail(`session "${id}": the step ends without ${step.owed.size} of the reminders that its results showed`)
    }
  })
}
