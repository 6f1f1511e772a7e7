import type { Agent } from '@loopguard/agent-loop'
import { CallAborted, subagentFailed } from './failures.ts'
import type { SessionEvent, TurnEndReason } from '@loopguard/session'
import { limitOf } from './limit.ts'
import type { SubagentResult } from './types.ts'

/** What became of a child that is idle, as its log has it. */
export function resultOf({ id, session }: Agent): SubagentResult {
  const ended = session.events.findLast((event): event is SessionEvent<'turn/end'> => event.type === 'turn/end')
  const reason = ended?.data.reason ?? INTERRUPTED
  const limit = limitOf(session.events, reason)
  return Object.freeze({ id, text: lastAnswer(session.events), reason, ...(limit !== undefined && { limit }) })
}

const INTERRUPTED: TurnEndReason = Object.freeze({ kind: 'interrupted' })

function lastAnswer(events: readonly SessionEvent[]): string {
  for (const event of events.toReversed()) {
    if (event.type !== 'assistant/message') continue
    const text = event.data.message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
    if (text.trim() !== '') return text
  }
  return ''
}

const NOTHING = '(the subagent ended without an answer)'

/** What the model reads of a child that has completed. @throws HarnessError `SUBAGENT_FAILED`, `ABORTED` for any other. */
export function answerOf(result: SubagentResult): string {
  const { id, text, reason } = result
  if (reason.kind === 'completed') return text === '' ? NOTHING : text
  const said = text === '' ? 'it had said nothing' : `its last words:\n\n${text}`
  const message = `subagent "${id}" did not complete: ${endOf(result)}; ${said}`
  throw isOfParent(reason) ? new CallAborted(message) : subagentFailed(message)
}

/** How a child ended, in a few words: `max-tokens`, `aborted (user)`, `blocked (budget.maxStepsPerAgent)`, `error NO_ADAPTER: …`. */
export function endOf({ reason, limit }: Pick<SubagentResult, 'reason' | 'limit'>): string {
  if (reason.kind === 'error') return `error ${reason.error.code}: ${reason.error.message}`
  const why = limit ?? (reason.kind === 'aborted' ? reason.reason.kind : undefined)
  return why === undefined ? reason.kind : `${reason.kind} (${why})`
}

/** Whether the child was cancelled because its parent, or the job that it was, was told to stop. */
export function isOfParent(reason: TurnEndReason): boolean {
  return reason.kind === 'aborted' && reason.reason.kind === 'parent'
}
