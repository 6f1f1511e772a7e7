import { isReminder } from '@loopguard/repeat'
import { brief } from '../shortened.ts'
import type { Transcript } from './transcript.ts'
import type { Call, ModelRequest, Reminder, Session, Turn } from './session.ts'

/** What a conversation says that is no log: calls and results in their order, and no time, no token, no code of a failure. */
export function sessionOfTranscript({ model: named, answers, inputs, notes = [] }: Transcript): Session {
  const model = named && brief(named)
  const turns: Turn[] = []
  const requests: ModelRequest[] = []
  const calls: Call[] = []
  const reminders: Reminder[] = []
  let [place, step, hasHeard] = [0, 0, false]
  const look = (at: number): boolean => {
    for (const { kind, content } of inputs[at] ?? []) {
      const text = content.map((block) => block.text).join('')
      // Which call a reminder is about, these formats do not say.
      if (kind !== 'user' && isReminder(text)) reminders.push({ guard: guardOf(text), text, at: place, call: undefined })
    }
    return (inputs[at] ?? []).some(({ kind }) => kind === 'user')
  }
  for (const [at, answer] of answers.entries()) {
    const isAsked = look(at)
    hasHeard ||= isAsked
    if (turns.length === 0 || isAsked) {
      step = 0
      turns.push({ turn: turns.length + 1, start: place, end: place, reason: undefined })
    }
    const turn = turns.length
    step++
    const start = place++
    const first = calls.length
    for (const { name, arguments: raw, result, isError } of answer.calls) {
      const outcome = result === undefined ? undefined : { isError: isError === true, text: result }
      calls.push({ turn, step, name, arguments: raw, start: place, end: ++place, outcome, afterUser: hasHeard })
      hasHeard = false
    }
    const made = answer.calls.map((_call, index) => first + index)
    requests.push({ turn, step, model, start, end: start + 1, stepEnd: place, calls: made })
    turns[turn - 1] = { ...(turns[turn - 1] as Turn), end: place }
  }
  look(answers.length)
  return {
    id: undefined,
    models: model === undefined ? [] : [model],
    startedAt: undefined,
    turns,
    requests,
    calls,
    reminders,
    hasCodes: false,
    notes,
  }
}

function guardOf(text: string): string {
  return text.startsWith('This call has failed ') ? 'repeated-failure-reminder' : 'repeat-tool-reminder'
}
