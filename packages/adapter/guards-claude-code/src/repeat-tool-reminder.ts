import { createRepeatTracker, type RepeatConfig } from '@loopguard/repeat'
import { EVENTS, type HookEvent, type HookOutput, observed } from './event.ts'

/** The key `hooks` of the options of `query`, as far as the guard fills it. */
export type ReminderHooks = Record<(typeof EVENTS)[number], { hooks: ((event: HookEvent) => Promise<HookOutput>)[] }[]>

/**
 * For the Claude Agent SDK: `query({ prompt, options: { hooks: repeatToolReminder() } })`. What it knows of a session goes with `SessionEnd`.
 *
 * @throws TypeError `REPEAT_TOOL_REMINDER_CONFIG` that lists every fault of `config`, one a line.
 */
export function repeatToolReminder(config: RepeatConfig = {}): ReminderHooks {
  const tracker = createRepeatTracker(config)
  const sessions = new Map<string, Map<string | undefined, object>>()
  const agentOf = ({ session_id: session, agent_id: id }: HookEvent): object => {
    const agents = sessions.get(session) ?? new Map<string | undefined, object>()
    const agent = agents.get(id) ?? {}
    sessions.set(session, agents.set(id, agent))
    return agent
  }
  const hook = async (event: HookEvent): Promise<HookOutput> => {
    if (event.hook_event_name === 'PostToolBatch') return observed(tracker, agentOf(event), event)
    if (event.hook_event_name === 'UserPromptSubmit') tracker.reset(agentOf(event))
    if (event.hook_event_name === 'SessionEnd') sessions.delete(event.session_id)
    return {}
  }
  return Object.fromEntries(EVENTS.map((name) => [name, [{ hooks: [hook] }]])) as ReminderHooks
}
