import type { Outcome, RepeatTracker } from '@loopguard/repeat'

/** What a hook is told, as far as the guard needs it: the JSON on stdin of a command, and the input of a callback. */
export interface HookEvent {
  readonly hook_event_name: string
  readonly session_id: string
  /** Of a sub-agent; the main thread has none. */
  readonly agent_id?: string | undefined
  readonly tool_calls?:
    readonly { readonly tool_name: string; readonly tool_input: unknown; readonly tool_response?: unknown }[] | undefined
}

/** What a hook answers. */
export interface HookOutput {
  hookSpecificOutput?: { hookEventName: 'PostToolBatch'; additionalContext: string }
}

/** The events that the hook has to get: a guard that misses one of them counts wrongly. */
export const EVENTS = ['PostToolBatch', 'UserPromptSubmit', 'SessionEnd'] as const

/** Counts the calls of a batch. */
export function observed(tracker: RepeatTracker, agent: object, { tool_calls: calls = [] }: HookEvent): HookOutput {
  const texts = calls.flatMap(({ tool_name: name, tool_input: args, tool_response: response }) => {
    return tracker.observe(agent, name, args, outcomeOf(response)) ?? []
  })
  if (texts.length === 0) return {}
  return { hookSpecificOutput: { hookEventName: 'PostToolBatch', additionalContext: texts.join('\n\n') } }
}

/** Claude Code does not say whether a call failed: its text alone is compared. */
function outcomeOf(response: unknown): Outcome | undefined {
  if (response === undefined) return undefined
  return { isError: false, text: typeof response === 'string' ? response : JSON.stringify(response) }
}
