import type { Context } from '@deepseek-ai/cordis'
import { CallBook, type CallRecord } from './call-book.ts'
import { listen, type LogEvent } from './log-events.ts'
import { Printout } from './printout.ts'
import { type Counts, Tally } from './tally.ts'
import { escaped, type Style } from './terminal.ts'

/** The last line of `--json`: `{"summary": …}`. */
export interface Summary extends Counts {
  /** The calls after which the reminder acted, in order. */
  readonly reminded: readonly CallRecord[]
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
  private loggedOut = false

  constructor(options: ReportOptions) {
    this.options = options
    this.printout = new Printout(options.style, this.calls)
  }

  attach(ctx: Context): void {
    this.calls.attach(ctx)
    listen(ctx, 'session/event', ({ id }, event) => this.show(id, event))
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
    const summary: Summary = { ...this.tally.counts(), reminded: this.calls.reminded }
    write(json ? `${JSON.stringify({ summary })}\n` : this.textOf(summary))
  }

  private show(agent: string, event: LogEvent): void {
    this.tally.note(agent, event)
    this.calls.note(agent, event)
    const { json, write } = this.options
    write(json ? `${JSON.stringify({ agent, event })}\n` : this.printout.render(agent, event))
  }

  private textOf({ reminded, ...counts }: Summary): string {
    const { paint, isTerminal } = this.options.style
    const acted = reminded.map((call, index) => `  ${index + 1}. ${placeOf(call)}\n`).join('')
    const where = acted === '' ? '' : `${paint.yellow('the reminder acted after')}\n${isTerminal ? escaped(acted) : acted}`
    return `${where}${paint.bold('summary')}: ${numbersOf(counts)}\n`
  }
}

function placeOf({ agent, turn, step, callId, name, arguments: raw }: CallRecord): string {
  const text = raw.replaceAll(/\s+/g, ' ')
  const shown = text.length > MAX_ARGUMENTS ? `${text.slice(0, MAX_ARGUMENTS).replace(/[\ud800-\udbff]$/, '')}…` : text
  return `${name} ${shown} [${callId}] (${agent}, turn ${turn}, step ${step})`
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
