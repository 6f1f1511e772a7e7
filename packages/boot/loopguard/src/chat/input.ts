import { createInterface, type Interface } from 'node:readline'
import { PassThrough, Writable } from 'node:stream'
import type { ReadStream } from 'node:tty'
import type { Draft } from './editor-rows.ts'

const LEAVE_WITHIN_MS = 2000
const STOPPED_WITHIN_MS = 200

export interface InputHandlers {
  /** A line was entered, while `asked` was the question; what was pasted with line breaks is one. */
  readonly line: (text: string, asked: unknown) => void
  /** The question that waits for an answer, if one does. */
  readonly question: () => unknown
  /** Ctrl-C. */
  readonly interrupt: () => void
  /** Ctrl-C again within two seconds, Ctrl-D on an empty line, or the terminal is gone. */
  readonly leave: () => void
  /** What is being typed looks otherwise now. */
  readonly changed: () => void
  /** The process is about to stop (Ctrl-Z), and the terminal is somebody else's for a while. */
  readonly suspended: () => void
  /** The process goes on after that. */
  readonly resumed: () => void
  readonly complete: (line: string) => [string[], string]
}

/** Of a terminal that is read, as much as is used here. */
export type KeyStream = Pick<ReadStream, 'on' | 'off' | 'pause' | 'resume' | 'setRawMode'>

/** What a person types. `node:readline` edits the line, with its history; it draws nothing. */
export class Input {
  private readonly readline: Interface
  private readonly handlers: InputHandlers
  private readonly stream: KeyStream
  private readonly unlisten: () => void
  private entered: string[] = []
  private pasted: string[] = []
  private interruptedAtMs = Number.NEGATIVE_INFINITY

  constructor(stream: KeyStream, handlers: InputHandlers, now: () => number = () => performance.now()) {
    this.stream = stream
    this.handlers = handlers
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
    // Not the terminal itself: readline would set its mode, and throw where nobody can catch it when the terminal is gone.
    const keys = new PassThrough()
    const { complete: completer } = handlers
    this.readline = createInterface({ input: keys, output: nowhere, terminal: true, prompt: '', completer, historySize: 500 })
    this.readline.on('line', (line) => this.enter(line))
    this.readline.on('SIGINT', () => {
      if (now() - this.interruptedAtMs <= LEAVE_WITHIN_MS) return handlers.leave()
      this.interruptedAtMs = now()
      handlers.interrupt()
    })
    this.readline.on('SIGTSTP', () => this.suspend())
    this.readline.on('close', handlers.leave)
    keys.on('keypress', handlers.changed)
    const typed = (chunk: Uint8Array): void => void keys.write(chunk)
    const gone = (): void => handlers.leave()
    stream.on('data', typed).on('end', gone).on('close', gone).on('error', gone)
    this.unlisten = () => {
      stream.off('data', typed).off('end', gone).off('close', gone)
      stream.pause()
    }
    this.setRawMode(true)
    stream.resume()
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
    this.setRawMode(false)
  }

  private suspend(): void {
    this.handlers.suspended()
    this.setRawMode(false)
    const goOn = (): void => {
      process.off('SIGCONT', goOn)
      clearTimeout(timer)
      this.setRawMode(true)
      this.handlers.resumed()
    }
    process.on('SIGCONT', goOn)
    // Where no shell could wake it, the system stops nothing.
    const timer = setTimeout(goOn, STOPPED_WITHIN_MS)
    // All of the group, as the terminal would: a parent that only waits must not keep the shell.
    process.kill(0, 'SIGTSTP')
  }

  private setRawMode(isRaw: boolean): void {
    try {
      this.stream.setRawMode(isRaw)
    } catch {
      // The terminal is gone, which is found out by reading.
    }
  }

  /** Lines that come in one piece were pasted; they wait for a line break that is typed. */
  private enter(line: string): void {
    if (this.entered.push(line) > 1) return
    // Whoever presses Enter answers what is on the screen, not what comes a moment later.
    const asked = this.handlers.question()
    setImmediate(() => {
      const { entered } = this
      this.entered = []
      if (entered.length > 1) this.pasted.push(...entered)
      else this.handlers.line([...this.pasted.splice(0), ...entered].join('\n'), asked)
      this.handlers.changed()
    })
  }
}
