import { CallId, createToolResultMessage, text } from '@loopguard/llm'
import type { SessionEvent } from './events.ts'
import { TOOL_NOT_STARTED, TOOL_OUTCOME_UNKNOWN } from './recovery-codes.ts'
import type { Session } from './session.ts'
import { takenIn } from './views.ts'

/** What a killed process left open. */
interface OpenTurn {
  readonly turn: number
  readonly step: number | undefined
  /** The calls without a result, in the order of the model; `true` for those that were started. */
  readonly calls: ReadonlyMap<string, boolean>
}

/**
 * Closes the turn that a killed process left open, so that the log nests and each call of the model has an answer. What was let in
 * and not yet taken out of the inbox is taken out.
 */
export function closeOpenTurn(session: Session): void {
  const ids = takenIn(session)
  if (ids.length > 0) session.append('inbox/removed', { ids, cause: 'claimed' })
  const open = openTurnOf(session.events)
  if (open === undefined) return
  const { turn, step, calls } = open
  if (step !== undefined) {
    for (const [callId, started] of calls) session.append('tool/result', { turn, step, ...answerTo(callId, started) })
    session.append('step/end', { turn, step })
  }
  session.append('turn/end', { turn, reason: { kind: 'interrupted' } })
}

function answerTo(callId: string, started: boolean): Pick<SessionEvent<'tool/result'>['data'], 'message' | 'error'> {
  const [why, code] = started
    ? ['the session was interrupted while this tool call ran: whether it took effect is not known', TOOL_OUTCOME_UNKNOWN]
    : ['the session was interrupted before this tool call started: it had no effect', TOOL_NOT_STARTED]
  const message = createToolResultMessage({ callId: CallId(callId), content: [text(`Error: ${why}`)], isError: true })
  return { message, error: { name: 'ToolInterruptedError', code } }
}

function openTurnOf(events: readonly SessionEvent[]): OpenTurn | undefined {
  const start = events.findLastIndex((event) => event.type === 'turn/start' || event.type === 'turn/end')
  const first = events[start]
  if (first?.type !== 'turn/start') return undefined
  let step: number | undefined
  const calls = new Map<string, boolean>()
  for (const event of events.slice(start + 1)) {
    if (event.type === 'step/start') step = event.data.step
    else if (event.type === 'step/end') step = undefined
    else if (event.type === 'tool/call') calls.set(event.data.callId, true)
    else if (event.type === 'tool/result') calls.delete(event.data.message.source.callId)
    else if (event.type === 'assistant/message') {
      for (const block of event.data.message.content) if (block.type === 'tool-call') calls.set(block.id, false)
    }
  }
  return { turn: first.data.turn, step, calls }
}
