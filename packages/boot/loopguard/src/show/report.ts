import type { Context } from '@deepseek-ai/cordis'
import { CallBook, type CallRecord } from './call-book.ts'
import { blockingLimit, type LimitRecord } from './limits.ts'
import { listen, type LogEvent } from './log-events.ts'
import { Printout } from './printout.ts'
import { type Counts, Tally } from './tally.ts'
import { escaped, type Style } from './terminal.ts'

/** The last line of `--json`: `{"summary": …}`. */
export interface Summary extends Counts {
  /** The calls after which the reminder acted, in order. */
  readonly reminded: readonly CallRecord[]
  /** The limits of a cap that were reached, in order. */
  readonly limits: readonly LimitRecord[]
}

export interface ReportOptions {
  readonly json: boolean
  readonly style: Style
  readonly write: (text: string) => void
}

const MAX_ARGUMENTS = 200

/** What a run shows on standard output: the log as it is written, then the summary; as text, or as one JSON object a line. */
export class Report {
  readonly calls: CallBook = new CallBook()
  private readonly tally = new Tally()
  private readonly options: ReportOptions
  private readonly printout: Printout
  private readonly limits: LimitRecord[] = []
  private loggedOut = false

  constructor(options: ReportOptions) {
    this.options = options
    this.printout = new Printout(options.style, this.calls)
  }

  attach(ctx: Context): void {
    this.calls.attach(ctx)
    listen(ctx, 'session/event', ({ id, events = [] }, event) => this.show(id, event, events))
    listen(ctx, 'agent/error', ({ error }) => {
      if (error instanceof Error) this.loggedOut = true
    })
  }

  /** Whether a turn ended otherwise than `completed`, or a log could not say how one ended. */
  get failed(): boolean {
    return this.loggedOut || this.tally.counts().unfinished > 0
  }

  finish(): void {
    const { json, write } = this.options
    const summary: Summary = { ...this.tally.counts(), reminded: this.calls.reminded, limits: this.limits }
    write(json ? `${JSON.stringify({ summary })}\n` : this.textOf(summary))
  }

  private show(agent: string, event: LogEvent, log: readonly LogEvent[]): void {
    this.tally.note(agent, event)
    if (event.type === 'budget/reached') this.limits.push({ agent, ...event.data })
    this.calls.note(agent, event)
    const { json, write } = this.options
    if (json) return write(`${JSON.stringify({ agent, event })}\n`)
    write(this.printout.render(agent, event, event.type === 'turn/end' ? blockingLimit(log, event.data.turn) : undefined))
  }

  private textOf({ reminded, limits, ...counts }: Summary): string {
    const { paint } = this.options.style
    const acted = this.listed(paint.yellow('the reminder acted after'), reminded.map(placeOf))
    const capped = this.listed(paint.red('limits reached'), limits.map(limitOf))
    return `${acted}${capped}${paint.bold('summary')}: ${numbersOf(counts)}\n`
  }

  private listed(title: string, items: readonly string[]): string {
    const list = items.map((item, index) => `  ${index + 1}. ${item}\n`).join('')
    return list === '' ? '' : `${title}\n${this.options.style.isTerminal ? escaped(list) : list}`
  }
}

function placeOf({ agent, turn, step, callId, name, arguments: raw }: CallRecord): string {
  const text = raw.replaceAll(/\s+/g, ' ')
  const shown = text.length > MAX_ARGUMENTS ? `${text.slice(0, MAX_ARGUMENTS).replace(/[\ud800-\udbff]$/, '')}…` : text
  return `${name} ${shown} [${callId}] (${agent}, turn ${turn}, step ${step})`
}

function limitOf({ agent, turn, step, limit, value }: LimitRecord): string {
  return `budget.${limit} (${value}) (${agent}, turn ${turn}, step ${step})`
}

function numbersOf({ agents, turns, unfinished, steps, calls, reminders, timeouts, tokens }: Counts): string {
  return [
    count(calls, 'call'),
    count(reminders, 'reminder'),
    count(timeouts, 'timeout'),
    count(agents, 'agent'),
    `${count(turns, 'turn')}${unfinished > 0 ? ` (${unfinished} not completed)` : ''}`,
    count(steps, 'step'),
    `${tokens.input} input + ${tokens.output} output tokens`,
  ].join(', ')
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
