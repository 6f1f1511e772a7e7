import type { SessionEventMap } from '@loopguard/session'
import type { ToolExecutionResult } from '@loopguard/tools'

/** What a `tool/result` says beside its message. */
export type ResultFacts = Omit<SessionEventMap['tool/result'], 'turn' | 'step' | 'message'>

/** What a log can say of a call only if its result says it. */
export function factsOf(result: ToolExecutionResult, bodyMs: number | undefined): ResultFacts {
  const contextIds = result.additionalContexts?.map(({ id }) => id)
  return {
    ...(result.isError && result.error.info !== undefined && { error: result.error.info }),
    ...(bodyMs !== undefined && { durationMs: bodyMs }),
    ...(contextIds !== undefined && { contextIds }),
  }
}
