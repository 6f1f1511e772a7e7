import { parseArgs } from 'node:util'
import { createRepeatTracker, type RepeatConfig } from '@loopguard/repeat'
import { EVENTS, type HookEvent, observed } from './event.ts'
import { defaultFolder, State } from './state.ts'

/**
 * One event of Claude Code.
 *
 * @param input - what Claude Code writes to stdin.
 * @returns what belongs on stdout; mostly nothing.
 * @throws if the hook cannot do its work: a faulty option, an event of another kind, a folder that cannot be written.
 */
export function run(args: string[], input: string, env: NodeJS.ProcessEnv): string {
  const { values } = parseArgs({ args, options: { config: { type: 'string', default: '{}' }, state: { type: 'string' } } })
  const tracker = createRepeatTracker(configOf(values.config))
  const event = eventOf(input)
  const state = new State(values.state ?? defaultFolder(env), event)
  if (event.hook_event_name === 'UserPromptSubmit') state.forgetAgent()
  if (event.hook_event_name === 'SessionEnd') state.forgetSession()
  if (event.hook_event_name !== 'PostToolBatch') return ''
  const agent = {}
  state.load(tracker, agent)
  const output = observed(tracker, agent, event)
  state.save(tracker, agent)
  return output.hookSpecificOutput === undefined ? '' : `${JSON.stringify(output)}\n`
}

function configOf(text: string): RepeatConfig {
  try {
    return JSON.parse(text) as RepeatConfig
  } catch (error) {
    throw new TypeError(`--config must be JSON, got ${JSON.stringify(text)}`, { cause: error })
  }
}

function eventOf(input: string): HookEvent {
  const event = Object(JSON.parse(input)) as Partial<HookEvent>
  if (!EVENTS.some((name) => name === event.hook_event_name) || typeof event.session_id !== 'string') {
    const got = `${String(event.hook_event_name)} of session ${String(event.session_id)}`
    throw new TypeError(`the hook counts nothing but on ${EVENTS.join(', ')} of a session, got ${got}: see the README for the settings`)
  }
  return event as HookEvent
}
