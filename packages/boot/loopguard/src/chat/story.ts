import { createRepeatTracker } from '@loopguard/repeat'
import { argumentsOf } from '../audit/audit.ts'
import { spanOf } from '../live/words.ts'
import type { CallRecord } from '../show/activities.ts'
import type { CallBook } from '../show/call-book.ts'
import { speakerOf } from '../show/delegation.ts'
import { FailedRequests } from '../show/failed-requests.ts'
import { blockingLimit } from '../show/limits.ts'
import { isReminder, isTimeout, type LogEvent, type LogMessage, REPEAT_REMINDER, reminderOf } from '../show/log-events.ts'
import { endOf, textOf } from '../show/printout.ts'
import { escaped, type Style } from '../show/terminal.ts'
import { fitted, folded } from '../show/width.ts'

const MAX_ARGUMENTS = 60

/** What happens, in lines for a person who reads along: each call with its time and the first line of its result, each reminder. */
export class Story {
  private readonly style: Style
  private readonly calls: CallBook
  private readonly own: string
  private readonly failed = new FailedRequests()
  private readonly tracker = createRepeatTracker()
  /** What the tracker knows each agent by. */
  private readonly agents = new Map<string, object>()
  /** How many equal calls in a row each call was the last of. */
  private readonly counts = new Map<string, number>()

  /** @param own - the agent of the conversation; what others do is told with their names. */
  constructor(style: Style, calls: CallBook, own: string) {
    this.style = style
    this.calls = calls
    this.own = own
  }

  /** The lines for an event, safe for a terminal. What the model says, and what the person has said, is told elsewhere. */
  lines(agent: string, event: LogEvent, log: readonly LogEvent[]): string[] {
    const { paint } = this.style
    const failed = this.failed.note(agent, event)
    const told = [
      ...(failed === undefined ? [] : [paint.red(this.line(agent, `✖ request failed: ${failed}`))]),
      ...this.body(agent, event, log),
    ]
    this.calls.note(agent, event)
    return told
  }

  private body(agent: string, event: LogEvent, log: readonly LogEvent[]): string[] {
    const { paint } = this.style
    switch (event.type) {
      case 'tool/call':
        this.count({ agent, ...event.data })
        return []
      case 'tool/result':
        return [this.result(agent, event.data)]
      case 'user/message':
        return this.heard(agent, event.data)
      case 'budget/reached':
        return [paint.bold(paint.red(this.line(agent, `LIMIT budget.${event.data.limit} (${event.data.value}) is reached`)))]
      case 'turn/end': {
        const { reason, turn } = event.data
        if (reason.kind === 'completed') return []
        const why = endOf(reason, blockingLimit(log, turn))
        return folded(this.safe(agent, `turn ended: ${why}`), this.style.columns)
          .split('\n')
          .map((line) => paint.red(line))
      }
      default:
        return []
    }
  }

  private result(agent: string, { message, error, durationMs }: Extract<LogEvent, { type: 'tool/result' }>['data']): string {
    const { paint, columns } = this.style
    const [block] = message.content
    const open = this.calls.activities.of(agent)?.open.get(block?.toolCallId ?? '')
    const took = durationMs ?? (open === undefined ? undefined : performance.now() - open.sinceMs)
    const first =
      textOf(block?.content ?? [])
        .trimStart()
        .split('\n', 1)[0] ?? ''
    const called = open === undefined ? (block?.toolCallId ?? '') : `${open.call.name} ${briefly(open.call)}`
    const words = fitted(this.safe(agent, `${called}${took === undefined ? '' : ` ${spanOf(took)}`}  ${first}`), columns - 3)
    if (isTimeout(error)) return paint.bold(paint.red(`✖ ${words}`))
    return block?.isError === true ? paint.red(`✖ ${words}`) : `${paint.green('✔')} ${words}`
  }

  private heard(agent: string, message: LogMessage): string[] {
    const { paint } = this.style
    if (isReminder(message)) {
      const call = this.calls.causeOf(message.id)
      const guard = reminderOf(message)
      const count = call === undefined ? 0 : (this.counts.get(keyOf(call)) ?? 0)
      const what = `${call?.name ?? ''}${guard === REPEAT_REMINDER && count > 1 ? ` ×${count}` : ''}`
      return [paint.bold(paint.yellow(this.line(agent, `◆ ${guard === REPEAT_REMINDER ? 'reminder' : (guard ?? '')}: ${what}`)))]
    }
    if (message.source.kind === 'user') {
      // A run is over when somebody has spoken.
      this.tracker.reset(this.tracked(agent))
      return []
    }
    return [paint.dim(this.line(agent, `◇ ${speakerOf(message.source)}: ${textOf(message.content)}`))]
  }

  private count(call: CallRecord): void {
    const agent = this.tracked(call.agent)
    this.tracker.observe(agent, call.name, argumentsOf(call))
    this.counts.set(keyOf(call), this.tracker.save(agent)?.length ?? 0)
  }

  private tracked(agent: string): object {
    const known = this.agents.get(agent) ?? {}
    this.agents.set(agent, known)
    return known
  }

  private line(agent: string, text: string): string {
    return fitted(this.safe(agent, text), this.style.columns - 1)
  }

  private safe(agent: string, text: string): string {
    const whose = agent === this.own ? '' : `[${agent}] `
    return escaped(`${whose}${text}`.replaceAll(/\s*\n\s*/g, ' ').replaceAll('\t', ' '))
  }
}

function keyOf({ agent, turn, step, callId }: CallRecord): string {
  return JSON.stringify([agent, turn, step, callId])
}

function briefly({ arguments: raw }: CallRecord): string {
  return fitted(raw.slice(0, 2 * MAX_ARGUMENTS).replaceAll(/\s+/g, ' '), MAX_ARGUMENTS)
}
