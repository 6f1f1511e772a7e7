/** Code of the answer to a tool call that was asked for and never started. */
export const TOOL_NOT_STARTED = 'TOOL_NOT_STARTED'

/** Code of the answer to a tool call that was started, and whose outcome is not known. */
export const TOOL_OUTCOME_UNKNOWN = 'TOOL_OUTCOME_UNKNOWN'
