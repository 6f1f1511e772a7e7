import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@loopguard/agent-loop'
import { type InvariantFailure, listen } from '@loopguard/invariants/companion'
import type { UserMessage } from '@loopguard/llm'
import type { ToolExecution, ToolExecutionResult } from '@loopguard/tools'
import { OpenStep } from './open-step.ts'

/**
 * Checks that what results show stands in the log of their step, behind the last of them. A step of which too little is known passes.
 * What is returned is to be told of each result.
 */
export function watchLog(
  ctx: Context,
  fail: InvariantFailure,
  remindersIn: (messages: readonly UserMessage[]) => string[],
): (exec: ToolExecution, result: ToolExecutionResult) => void {
  const steps = new Map<string, OpenStep>()
  listen(ctx, 'session/event', ({ id }, { type, data, seq }) => {
    if (type === 'assistant/message') return void steps.set(id, new OpenStep(data.message.content))
    const step = steps.get(id)
    if (step === undefined) return
    if (type === 'tool/result') {
      if (step.close(data.message.source.callId) === 'open') steps.delete(id)
    } else if (type === 'user/message' && remindersIn([data]).length > 0) {
      const isOwed = step.settle(data.id)
      if (step.open > 0) fail(`session "${id}": a reminder (event ${seq}) stands before the last result of its step`)
      if (!isOwed) fail(`session "${id}": a reminder (event ${seq}) that no result of its step showed`)
    } else if (type === 'step/end') {
      steps.delete(id)
      if (step.owing === 0) return
      // Another harness may hand contexts to the inbox, from which the next step claims and logs them.
      for (const queued of (step.agent as Partial<Agent>).inbox?.nextStep ?? []) step.settle(queued.id)
      if (step.owing > 0) fail(`session "${id}": the step ends without ${step.owing} of the reminders that its results showed`)
    }
  })
  return ({ agent, callId }, { additionalContexts }) => {
    const step = agent && steps.get(agent.id)
    const call = step?.calls.get(callId)
    if (agent === undefined || step === undefined || call === undefined) return
    // Which of two results for one id the loop has asked for cannot be told.
    if (call !== 'open') return void steps.delete(agent.id)
    step.calls.set(callId, 'seen')
    if (additionalContexts === undefined) return
    step.agent = agent
    for (const id of remindersIn(additionalContexts)) step.owe(id)
  }
}
