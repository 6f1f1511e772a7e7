import type { Context } from '@deepseek-ai/cordis'
import type { AuditReport } from '../audit/audit-report.ts'
import type { CallRecord } from './activities.ts'
import { CallBook } from './call-book.ts'
import { blockingLimit, type LimitRecord } from './limits.ts'
import { listen, type LogEvent, REPEAT_REMINDER } from './log-events.ts'
import type { Lines } from './lines.ts'
import { placeOf } from './place.ts'
import { Printout } from './printout.ts'
import { type Counts, Tally, type Tokens } from './tally.ts'
import { escaped, type Style } from './terminal.ts'

/** The last line of `--json`: `{"summary": …}`. */
interface Summary extends Counts {
  /** The calls after which the reminder of repeated calls acted, in order. */
  readonly reminded: readonly CallRecord[]
  /** The limits of a cap that were reached, in order. */
  readonly limits: readonly LimitRecord[]
}

export interface ReportOptions {
  readonly json: boolean
  /** The log is not shown. */
  readonly summaryOnly?: boolean
  readonly style: Style
  /** Given on a terminal. */
  readonly lines: Lines | undefined
  readonly write: (text: string) => void
  /** What rules say of the conversations, told before the summary. */
  readonly audit?: AuditReport | undefined
}

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
    this.printout = new Printout(options.style, this.calls, options.lines)
  }

  attach(ctx: Context): void {
    this.calls.attach(ctx)
    this.options.audit?.attach(ctx)
    listen(ctx, 'session/event', ({ id, events = [] }, event) => this.show(id, event, events))
    listen(ctx, 'agent/error', ({ error }) => {
      if (error instanceof Error) this.loggedOut = true
    })
  }

  /** Whether a turn ended otherwise than `completed`, or a log could not say how one ended. */
  get failed(): boolean {
    return this.loggedOut || this.counts.unfinished > 0
  }

  get counts(): Counts {
    return this.tally.counts()
  }

  finish(): void {
    const { json, write, audit, style, lines } = this.options
    const told = audit?.finish()
    const fold = (text: string): string => lines?.folded(text, style.columns) ?? text
    if (told !== undefined) write(json ? told.lines() : fold(told.text(style)))
    const reminded = this.calls.reminded.flatMap(({ guard, call }) => (guard === REPEAT_REMINDER ? [call] : []))
    const summary: Summary = { ...this.counts, reminded, limits: this.limits }
    write(json ? `${JSON.stringify({ summary: { ...summary, ...told?.summary } })}\n` : fold(this.textOf(summary)))
  }

  private show(agent: string, event: LogEvent, log: readonly LogEvent[]): void {
    this.tally.note(agent, event)
    if (event.type === 'budget/reached') this.limits.push({ agent, ...event.data })
    this.calls.note(agent, event)
    const { json, write, summaryOnly } = this.options
    if (summaryOnly === true) return
    if (json) return write(`${JSON.stringify({ agent, event })}\n`)
    write(this.printout.render(agent, event, event.type === 'turn/end' ? blockingLimit(log, event.data.turn) : undefined))
  }

  private textOf(counts: Counts): string {
    const { paint } = this.options.style
    const reminded = this.calls.reminded.map(({ guard, call }) => `${placeOf(call)}${sayingIf(guard)}`)
    const acted = this.listed(paint.yellow('the reminder acted after'), reminded)
    const capped = this.listed(paint.red('limits reached'), this.limits.map(limitOf))
    return `${acted}${capped}${paint.bold('summary')}: ${numbersOf(counts)}\n`
  }

  private listed(title: string, items: readonly string[]): string {
    const list = items.map((item, index) => `  ${index + 1}. ${item}\n`).join('')
    return list === '' ? '' : `${title}\n${this.options.style.isTerminal ? escaped(list) : list}`
  }
}

/** Which guard it was, where it is not the one that one thinks of. */
function sayingIf(guard: string | undefined): string {
  return guard === undefined || guard === REPEAT_REMINDER ? '' : `: ${guard}`
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
    tokensOf(tokens),
  ].join(', ')
}

function tokensOf(tokens: Tokens | null): string {
  if (tokens === null) return 'tokens not recorded'
  const { input, output, answersWithout = 0 } = tokens
  return `${input} input + ${output} output tokens${answersWithout > 0 ? ` (${count(answersWithout, 'answer')} without a record)` : ''}`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
