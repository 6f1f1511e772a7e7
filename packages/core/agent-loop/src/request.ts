import { isDeepStrictEqual } from 'node:util'
import { type LlmRequest, type RequestTool, withHistory } from '@loopguard/llm'
import { lastHeader, messagesOf, type Session, type SessionEventMap } from '@loopguard/session'
import type { AgentOptions } from './types.ts'

type RequestHeader = SessionEventMap['request/header']

/** Builds the requests of one agent and keeps the log's header equal to what the model sees. */
export class RequestBuilder {
  private header: RequestHeader | undefined
  private readonly session: Session
  private readonly options: AgentOptions

  constructor(session: Session, options: AgentOptions) {
    this.session = session
    this.options = options
    this.header = lastHeader(session)
  }

  /** The next request; its header is logged first, when it differs from the last one in the log. */
  next(tools: readonly RequestTool[], signal: AbortSignal): LlmRequest {
    const { provider, model, system, maxTokens } = this.options
    const header: RequestHeader = {
      provider,
      model,
      ...(system !== undefined && { system }),
      ...(tools.length > 0 && { tools }),
      ...(maxTokens !== undefined && { maxTokens }),
    }
    if (this.header === undefined || !sameHeader(this.header, header)) this.header = this.session.append('request/header', header).data
    return requestOf(this.header, this.session, signal)
  }
}

/** The log only grows, so that what was derived by now is the same whenever it is read. */
function requestOf(header: RequestHeader, session: Session, signal: AbortSignal): LlmRequest {
  const history = messagesOf(session)
  return Object.freeze(withHistory({ ...header, signal, sessionId: session.id }, history, history.length))
}

function sameHeader(a: RequestHeader, b: RequestHeader): boolean {
  if (a.provider !== b.provider || a.model !== b.model || a.system !== b.system || a.maxTokens !== b.maxTokens) return false
  if (a.tools === b.tools) return true
  if (a.tools?.length !== b.tools?.length) return false
  // Schemas are the same frozen objects from step to step, so that the deep comparison is the exception.
  return (a.tools ?? []).every((tool, index) => tool === b.tools?.[index] || isDeepStrictEqual(tool, b.tools?.[index]))
}
