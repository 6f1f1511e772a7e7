import { createInterface, type Interface } from 'node:readline'
import type { ReadStream } from 'node:tty'
import { Writable } from 'node:stream'
import type { Draft } from './editor-rows.ts'

const LEAVE_WITHIN_MS = 2000

export interface InputHandlers {
  /** A line was entered; what was pasted with line breaks is one. */
  readonly line: (text: string) => void
  /** Ctrl-C. */
  readonly interrupt: () => void
  /** Ctrl-C again within two seconds, Ctrl-D on an empty line, or the terminal is gone. */
  readonly leave: () => void
  /** What is being typed looks otherwise now. */
  readonly changed: () => void
  /** The process goes on after it was stopped. */
  readonly resumed: () => void
  readonly complete: (line: string) => [string[], string]
}

/** What a person types. `node:readline` edits the line, with its history; it draws nothing. */
export class Input {
  private readonly readline: Interface
  private readonly handlers: InputHandlers
  private readonly unlisten: () => void
  private entered: string[] = []
  private pasted: string[] = []
  private interruptedAtMs = Number.NEGATIVE_INFINITY

  constructor(stream: ReadStream, handlers: InputHandlers, now: () => number = () => performance.now()) {
    this.handlers = handlers
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
    this.readline = createInterface({
      input: stream,
      output: nowhere,
      terminal: true,
      prompt: '',
      completer: handlers.complete,
      historySize: 500,
    })
    const changed = (): void => handlers.changed()
    this.readline.on('line', (line) => this.enter(line))
    this.readline.on('SIGINT', () => {
      if (now() - this.interruptedAtMs <= LEAVE_WITHIN_MS) return handlers.leave()
      this.interruptedAtMs = now()
      handlers.interrupt()
    })
    this.readline.on('SIGCONT', handlers.resumed)
    this.readline.on('close', handlers.leave)
    const gone = (): void => handlers.leave()
    stream.on('keypress', changed).on('error', gone)
    this.unlisten = () => stream.off('keypress', changed).off('error', gone)
  }

  /** The line as it is now. */
  draft(prompt: string): Draft {
    const more = this.pasted.length > 0 ? `(${this.pasted.length} more lines) ` : ''
    return { prompt: `${more}${prompt}`, line: this.readline.line, cursor: this.readline.cursor }
  }

  /** Takes the line away, and returns it. */
  takeLine(): string {
    const { line } = this.readline
    this.readline.write(null, { ctrl: true, name: 'e' })
    this.readline.write(null, { ctrl: true, name: 'u' })
    return line
  }

  putLine(line: string): void {
    if (line !== '') this.readline.write(line)
  }

  close(): void {
    this.readline.off('close', this.handlers.leave)
    this.unlisten()
    this.readline.close()
  }

  /** Lines that come in one piece were pasted; they wait for a line break that is typed. */
  private enter(line: string): void {
    if (this.entered.push(line) > 1) return
    setImmediate(() => {
      const { entered } = this
      this.entered = []
      if (entered.length > 1) this.pasted.push(...entered)
      else this.handlers.line([...this.pasted.splice(0), ...entered].join('\n'))
      this.handlers.changed()
    })
  }
}
