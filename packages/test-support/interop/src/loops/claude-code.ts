import { repeatToolReminder, timeLimited } from '@loopguard/guards-claude-code'
import type { Call, Loop } from './loop.ts'
import { BUDGET, hang, tick } from './tools.ts'

const bounded = timeLimited((_args: object, { signal }) => hang(signal), BUDGET)

async function resultOf({ name }: Call): Promise<string> {
  if (name === 'tick') return tick()
  return name === 'hang' ? bounded({}, undefined).catch(String) : 'the same'
}

/** The events that Claude Code sends, without Claude Code: it keeps what a hook adds, so the requests hold all of it. */
export const claudeCode: Loop = {
  title: 'the hook events of Claude Code',
  lacks: { kept: 'Claude Code itself keeps what a hook adds', failures: 'the event does not say which results are errors' },
  async run(turns, { config } = {}) {
    const hooks = repeatToolReminder(config)
    const send = async (name: keyof typeof hooks, fields: object = {}): Promise<string> => {
      const output = await hooks[name][0]?.hooks[0]?.({ hook_event_name: name, session_id: 's', ...fields })
      return output?.hookSpecificOutput?.additionalContext ?? ''
    }
    const reminders: number[] = []
    let [told, last] = [0, '']
    for (const turn of turns) {
      await send('UserPromptSubmit', { prompt: 'go' })
      for (const step of turn) {
        reminders.push(told)
        if (typeof step === 'string') continue
        const results = await Promise.all(step.map(resultOf))
        last = results.join('\n')
        const calls = step.map(({ name, json }, index) => {
          return { tool_name: name, tool_input: JSON.parse(json) as unknown, tool_response: results[index] }
        })
        const text = await send('PostToolBatch', { tool_calls: calls })
        told += text === '' ? 0 : text.split('\n\n').length
      }
    }
    return { reminders, last, kept: told }
  },
}
