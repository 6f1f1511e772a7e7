import { execFileSync } from 'node:child_process'
import { repeatToolReminder } from '@loopguard/guards-claude-code'

const hooks = repeatToolReminder()
const event = { session_id: 's', hook_event_name: 'PostToolBatch', tool_calls: [{ tool_name: 'Read', tool_input: {} }] }
const reminders = [0]
for (let call = 1; call <= 3; call++) {
  const { hookSpecificOutput } = await hooks.PostToolBatch[0].hooks[0](event)
  const output = execFileSync('node_modules/.bin/loopguard-claude-code', ['--state', 'state'], {
    input: JSON.stringify(event),
    encoding: 'utf8',
  })
  const isSaid = output.includes('You are repeating')
  if (isSaid !== (hookSpecificOutput !== undefined)) throw new Error('the command and the callback differ')
  reminders.push(isSaid ? 1 : 0)
}
console.log(`reminders: ${reminders.join()}`)
