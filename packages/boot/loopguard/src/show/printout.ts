import type { CallBook } from './call-book.ts'
import { childOf, goalLine, speakerOf } from './delegation.ts'
import { FailedRequests } from './failed-requests.ts'
import { type Block, type EndReason, isReminder, isTimeout, type LogEvent, type LogMessage } from './log-events.ts'
import type { Lines } from './lines.ts'
import { escaped, type Style } from './terminal.ts'

const LABEL_WIDTH = 10
/** What a terminal shows of one text; elsewhere every text is whole. */
const MAX_LINES = 30
const MAX_CHARS = 4000

type Tone = 'bold' | 'dim' | 'cyan' | 'red' | 'reminder' | 'timeout'

/**
 * Renders the log of sessions as text. What the model reads stands there whole and unwrapped when the output is no terminal; on a
 * terminal it is indented, shortened and made harmless.
 */
export class Printout {
  private readonly style: Style
  private readonly calls: CallBook
  private readonly lines: Lines | undefined
  private readonly failed = new FailedRequests()
  private speaker: string | undefined

  /** @param lines - given on a terminal. */
  constructor(style: Style, calls: CallBook, lines: Lines | undefined) {
    this.style = style
    this.lines = lines
    this.calls = calls
  }

  /**
   * The text for one event, with its line breaks; empty for events that say nothing to a reader.
   * @param blockedBy - the limit for which a turn ended `blocked`, if there is one.
   */
  render(agent: string, event: LogEvent, blockedBy?: string): string {
    const failed = this.failed.note(agent, event)
    const text = (failed === undefined ? '' : this.entry('request failed', failed, 'red')) + this.body(agent, event, blockedBy)
    if (text === '') return ''
    const isNew = this.speaker !== agent
    this.speaker = agent
    // Agents that take turns: each turn, and each child, names its agent anyway.
    return isNew && event.type !== 'turn/start' && event.type !== 'subagent/start' ? `${this.heading(`${agent}, continued`)}${text}` : text
  }

  private body(agent: string, event: LogEvent, blockedBy: string | undefined): string {
    switch (event.type) {
      case 'turn/start':
        return this.heading(`${agent}, turn ${event.data.turn}`)
      case 'subagent/start':
        return this.heading(`${agent}, ${childOf(event.data)}`)
      case 'goal/create':
      case 'goal/update':
        return this.entry('goal', goalLine(event.data), 'bold')
      case 'turn/end':
        return this.ended(event.data, blockedBy)
      case 'step/start':
        return `${this.style.paint.dim(`-- step ${event.data.step}`)}\n`
      case 'request/header':
        return this.header(event.data)
      case 'user/message':
        return this.heard(event.data)
      case 'assistant/message':
        return this.said(event.data.message, event.data.interrupted === true)
      case 'tool/call':
        return this.entry('call', `${event.data.name} ${event.data.arguments} [${event.data.callId}]`, 'cyan')
      case 'tool/result':
        return this.result(event.data)
      case 'budget/reached':
        return this.entry('LIMIT', `budget.${event.data.limit} (${event.data.value}) is reached`, 'timeout')
      // What a failed attempt had said is no part of the conversation.
      case 'request/failed':
      case 'request/retry':
      case 'step/end':
      default:
        return ''
    }
  }

  private ended({ turn, reason }: { readonly turn: number; readonly reason: EndReason }, blockedBy: string | undefined): string {
    const tone = reason.kind === 'completed' ? 'green' : 'red'
    return `${this.style.paint[tone](this.marked(`turn ${turn} ended: ${this.safe(endOf(reason, blockedBy))}`))}\n`
  }

  private header({ provider, model, system, tools = [] }: Extract<LogEvent, { type: 'request/header' }>['data']): string {
    const names = tools.map(({ name }) => name).join(', ')
    const line = `${provider}/${model}${names === '' ? '' : `, tools ${names}`}`
    return this.entry('asks', line, 'dim') + (system === undefined ? '' : this.entry('system', system, 'dim'))
  }

  private heard(message: LogMessage): string {
    const text = textOf(message.content)
    if (!isReminder(message)) return this.entry(speakerOf(message.source), text, 'bold')
    const call = this.calls.causeOf(message.id)
    return this.entry(`REMINDER${call === undefined ? '' : ` after ${call.name} [${call.callId}]`}`, text, 'reminder')
  }

  private said({ content }: LogMessage, interrupted: boolean): string {
    const cut = interrupted ? ' (interrupted)' : ''
    return content
      .filter(({ type }) => type === 'text' || type === 'reasoning')
      .map((block) =>
        this.entry((block.type === 'text' ? 'model' : 'reasoning') + cut, block.text ?? '', block.type === 'text' ? 'bold' : 'dim'),
      )
      .join('')
  }

  private result({ message, error }: Extract<LogEvent, { type: 'tool/result' }>['data']): string {
    const [block] = message.content
    const text = textOf(block?.content ?? [])
    const of = `[${block?.toolCallId ?? ''}]`
    if (isTimeout(error)) return this.entry(`TIMEOUT ${of}`, text, 'timeout')
    if (block?.isError !== true) return this.entry(`result ${of}`, text, 'dim')
    return this.entry(`error ${of}${error === undefined ? '' : ` ${error.code}`}`, text, 'red')
  }

  private heading(text: string): string {
    return `${this.style.paint.bold(this.marked(this.safe(text)))}\n`
  }

  private marked(text: string): string {
    return this.lines?.hanging('== ', text, this.style.columns) ?? `== ${text}`
  }

  private entry(label: string, text: string, tone: Tone): string {
    const { columns } = this.style
    const hanging = this.lines?.hanging
    const name = this.painted(this.safe(label), tone)
    if (hanging === undefined) return text.includes('\n') ? `${name}:\n${text}\n` : `${name}: ${text}\n`
    const lines = shortened(escaped(text)).split('\n')
    const pad = ' '.repeat(Math.max(1, LABEL_WIDTH - label.length))
    const onOneLine = lines.length === 1 && label.length < LABEL_WIDTH
    if (onOneLine) return `${hanging(`  ${name}${pad}`, lines[0] ?? '', columns)}\n`
    return `  ${name}\n${lines.map((line) => `${hanging('    ', line, columns)}\n`).join('')}`
  }

  private painted(label: string, tone: Tone): string {
    const { paint } = this.style
    if (tone === 'reminder') return paint.bold(paint.yellow(label))
    return tone === 'timeout' ? paint.bold(paint.red(label)) : paint[tone](label)
  }

  private safe(text: string): string {
    return this.style.isTerminal ? escaped(text).replaceAll('\n', '\\n') : text.replaceAll(/\r?\n/g, '\\n')
  }
}

/** Why a turn ended, in words. */
export function endOf({ kind, error, reason }: EndReason, blockedBy: string | undefined): string {
  if (error !== undefined) return `${kind} ${error.code}: ${error.message}`
  if (kind === 'blocked' && blockedBy !== undefined) return `${kind} (budget.${blockedBy})`
  if (reason === undefined) return kind
  return `${kind} (${reason.limit === undefined ? reason.kind : `${reason.kind}.${reason.limit}`})`
}

/** The text of a message as the model reads it. */
export function textOf(content: readonly Block[]): string {
  return content.map((block) => (block.type === 'text' ? (block.text ?? '') : JSON.stringify(block))).join('\n')
}

function shortened(text: string): string {
  const lines = text.split('\n')
  const kept = lines.length > MAX_LINES ? lines.slice(0, MAX_LINES).join('\n') : text
  // Not through the middle of a character that takes two units.
  const shown = kept.slice(0, MAX_CHARS).replace(/[\ud800-\udbff]$/, '')
  return shown.length === text.length ? text : `${shown}\n… (${text.length - shown.length} more characters; piped, the output is whole)`
}
