import { isReminder, isTimeout, type LogEvent } from './log-events.ts'

export interface Tokens {
  readonly input: number
  readonly output: number
  /** How many answers have said nothing of it, if some have: one that was cut off, for instance. */
  readonly answersWithout?: number
}

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
  /** `null` when no answer of a model said how many. */
  readonly tokens: Tokens | null
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
  private answers = 0
  private counted = 0

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
        this.answers++
        if (event.data.usage !== undefined) this.counted++
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
    const { agents, turns, completed, steps, calls, reminders, timeouts } = this
    return { agents: agents.size, turns, unfinished: turns - completed, steps, calls, reminders, timeouts, tokens: this.tokens() }
  }

  private tokens(): Tokens | null {
    const { input, output, answers, counted } = this
    if (counted === 0) return null
    return { input, output, ...(counted < answers && { answersWithout: answers - counted }) }
  }
}
