import type { ToolErrorInfo } from './types.ts'

/** The failures that the pipeline itself answers a call with, by code. `TOOL_TIMEOUT` is not among them: timeout-policy owns it. */
export type ToolFailureCode =
  | 'UNKNOWN_TOOL'
  | 'INVALID_ARGS'
  | 'DENIED'
  | 'ABORTED_BEFORE_DISPATCH'
  | 'ABORTED'
  | 'INVALID_TOOL_OUTPUT'
  | 'BLOCKED'
  | 'TOOL_OUTCOME_UNKNOWN'

/** `error.info` of each of them. */
export const ToolFailures: Readonly<Record<ToolFailureCode, ToolErrorInfo>> = Object.freeze({
  UNKNOWN_TOOL: Object.freeze({ name: 'ToolNotFoundError', code: 'UNKNOWN_TOOL' }),
  INVALID_ARGS: Object.freeze({ name: 'ToolArgsError', code: 'INVALID_ARGS' }),
  DENIED: Object.freeze({ name: 'ToolDeniedError', code: 'DENIED' }),
  ABORTED_BEFORE_DISPATCH: Object.freeze({ name: 'AbortError', code: 'ABORTED_BEFORE_DISPATCH' }),
  ABORTED: Object.freeze({ name: 'AbortError', code: 'ABORTED' }),
  INVALID_TOOL_OUTPUT: Object.freeze({ name: 'ToolOutputError', code: 'INVALID_TOOL_OUTPUT' }),
  // As @loopguard/session says of a call whose process has died: what became of it is not known.
  TOOL_OUTCOME_UNKNOWN: Object.freeze({ name: 'ToolInterruptedError', code: 'TOOL_OUTCOME_UNKNOWN' }),
  BLOCKED: Object.freeze({ name: 'ToolBlockedError', code: 'BLOCKED' }),
})
