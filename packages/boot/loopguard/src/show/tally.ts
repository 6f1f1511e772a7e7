import { isReminder, isTimeout, type LogEvent } from './log-events.ts'

/** The numbers of a run. */
export interface Counts {
  readonly agents: number
  readonly turns: number
  /** Turns that ended otherwise than `completed`, or did not end. */
  readonly unfinished: number
  readonly steps: number
  readonly calls: number
  readonly reminders: number
  readonly timeouts: number
  readonly tokens: { readonly input: number; readonly output: number }
}

/** Counts what the logs of all agents say. */
export class Tally {
  private readonly agents = new Set<string>()
  private turns = 0
  private completed = 0
  private steps = 0
  private calls = 0
  private reminders = 0
  private timeouts = 0
  private input = 0
  private output = 0

  note(agent: string, event: LogEvent): void {
    this.agents.add(agent)
    switch (event.type) {
      case 'turn/start':
        this.turns++
        return
      case 'turn/end':
        if (event.data.reason.kind === 'completed') this.completed++
        return
      case 'step/start':
        this.steps++
        return
      case 'tool/call':
        this.calls++
        return
      case 'tool/result':
        if (isTimeout(event.data.error)) this.timeouts++
        return
      case 'user/message':
        if (isReminder(event.data)) this.reminders++
        return
      case 'assistant/message':
        this.input += event.data.usage?.inputTokens ?? 0
        this.output += event.data.usage?.outputTokens ?? 0
        return
      case 'request/header':
      case 'request/failed':
      case 'request/retry':
      case 'step/end':
      default:
    }
  }

  counts(): Counts {
    const { agents, turns, completed, steps, calls, reminders, timeouts, input, output } = this
    return { agents: agents.size, turns, unfinished: turns - completed, steps, calls, reminders, timeouts, tokens: { input, output } }
  }
}
