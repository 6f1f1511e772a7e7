import { CallId, createToolResultMessage, text } from '@loopguard/llm'
import type { SessionEvent } from './events.ts'
import { TOOL_NOT_STARTED, TOOL_OUTCOME_UNKNOWN } from './recovery-codes.ts'
import type { Session } from './session.ts'
import { takenIn } from './views.ts'

/** What a killed process left open. */
interface OpenTurn {
  readonly turn: number
  readonly step: number | undefined
  /** The calls without a result, in the order of the model. Models give one id to several calls now and then. */
  readonly calls: readonly OpenCall[]
}

interface OpenCall {
  readonly id: string
  started: boolean
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
    for (const { id, started } of calls) session.append('tool/result', { turn, step, ...answerTo(id, started) })
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
  const calls: OpenCall[] = []
  for (const event of events.slice(start + 1)) {
    if (event.type === 'step/start') step = event.data.step
    else if (event.type === 'step/end') step = undefined
    else if (event.type === 'tool/call') markStarted(calls, event.data.callId)
    else if (event.type === 'tool/result') takeAnswered(calls, event.data.message.source.callId)
    else if (event.type === 'assistant/message') {
      for (const block of event.data.message.content) if (block.type === 'tool-call') calls.push({ id: block.id, started: false })
    }
  }
  return { turn: first.data.turn, step, calls }
}

function markStarted(calls: OpenCall[], id: string): void {
  const call = calls.find((open) => open.id === id && !open.started)
  if (call !== undefined) call.started = true
}

/** Of several calls of one id, the one that was started is answered first. */
function takeAnswered(calls: OpenCall[], id: string): void {
  const started = calls.findIndex((open) => open.id === id && open.started)
  const at = started >= 0 ? started : calls.findIndex((open) => open.id === id)
  if (at >= 0) calls.splice(at, 1)
}
