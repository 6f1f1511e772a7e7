import { type PromptResponse, RequestError, type StopReason } from '@agentclientprotocol/sdk'
import { codeOf, messageOf } from '@loopguard/kit'
import type { TurnEndReason } from '@loopguard/session'
import type { PromptEnd } from './prompts.ts'

const STOP: Readonly<Record<Exclude<TurnEndReason['kind'], 'error'>, StopReason>> = {
  completed: 'end_turn',
  'max-tokens': 'max_tokens',
  blocked: 'refusal',
  aborted: 'cancelled',
  interrupted: 'cancelled',
}

const INTERNAL = -32603
const NOT_FOUND = -32002

/** The answer to a prompt. @throws RequestError for a turn that ended with an error. */
export function answerOf(end: PromptEnd): PromptResponse {
  if (end.kind === 'discarded') return { stopReason: 'cancelled' }
  const { reason } = end
  if (reason.kind === 'error') throw new RequestError(INTERNAL, reason.error.message, { code: reason.error.code })
  return {
    stopReason: STOP[reason.kind],
    ...(reason.kind === 'aborted' && { _meta: { loopguard: { cause: reason.reason } } }),
  }
}

/** What a failure of the host is for a client. */
export function refusalOf(error: unknown, sessionId?: string): RequestError {
  if (error instanceof RequestError) return error
  const data = { ...(sessionId !== undefined && { sessionId }), ...(codeOf(error) !== undefined && { code: codeOf(error) }) }
  switch (codeOf(error)) {
    case 'SESSION_NOT_FOUND':
      return new RequestError(NOT_FOUND, messageOf(error), data)
    case 'BAD_SESSION_ID':
      return RequestError.invalidParams(data, messageOf(error))
    default:
      return new RequestError(INTERNAL, messageOf(error), data)
  }
}
