import type { TerminalStream } from '../live/bottom-line.ts'
import { escaped, type Style } from '../show/terminal.ts'
import { fitted, folded } from '../show/width.ts'
import { captured } from './captured.ts'
import { Display } from './display.ts'
import { editorRows } from './editor-rows.ts'
import { Input, type KeyStream } from './input.ts'
import type { Rows } from './region.ts'
import { TerminalOutput } from './terminal-output.ts'

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'
const FRAME_MS = 100
const DEFAULT_ROWS = 24
const LAST_WORDS_MS = 500

/** What the screen asks of a conversation, and tells it. */
export interface ScreenHandlers {
  /** A line was entered while `asked` was the question. */
  readonly line: (line: string, asked: unknown) => void
  readonly interrupt: () => void
  readonly leave: () => void
  readonly complete: (line: string) => [string[], string]
  /** What is waited for; `undefined` when nothing runs. */
  readonly waiting: () => string | undefined
  /** Text that comes, and is not a line yet. */
  readonly tail: () => string
  /** What the person has to answer now; `undefined` for nothing. */
  readonly question: () => unknown
}

/** The terminal of a conversation. */
export interface ChatScreen {
  begin(handlers: ScreenHandlers): void
  print(...lines: readonly string[]): void
  update(): void
  takeLine(): string
  putLine(line: string): void
}

export interface TerminalParts {
  readonly input: KeyStream
  readonly style: Style
  /** Streams that others may write to, and that are the terminal. */
  readonly streams: readonly (TerminalStream & {
    readonly rows?: number
    on?: (event: 'resize', heard: () => void) => unknown
    off?: (event: 'resize', heard: () => void) => unknown
  })[]
  readonly output?: TerminalOutput
}

/** Lines above, then text that comes, what is waited for, and what is being typed. */
export class TerminalScreen implements ChatScreen {
  private readonly parts: TerminalParts
  private readonly output: TerminalOutput
  private readonly display: Display
  private handlers: ScreenHandlers | undefined
  private input: Input | undefined
  private undo: (() => void)[] = []
  private frame = 0

  constructor(parts: TerminalParts) {
    this.parts = parts
    this.output = parts.output ?? new TerminalOutput()
    this.display = new Display(this.output, () => this.rows())
  }

  begin(handlers: ScreenHandlers): void {
    const { input, streams, style } = this.parts
    this.handlers = handlers
    this.output.onGone = handlers.leave
    this.input = new Input(input, {
      line: handlers.line,
      question: handlers.question,
      interrupt: handlers.interrupt,
      leave: handlers.leave,
      complete: handlers.complete,
      changed: () => this.display.flush(),
      suspended: () => this.display.pause(),
      resumed: () => this.display.resume(),
    })
    const tick = setInterval(() => {
      if (handlers.waiting() !== undefined) this.display.flush()
    }, FRAME_MS).unref()
    const [out] = streams
    const resized = (): void => this.display.update()
    out?.on?.('resize', resized)
    const last = (): void => this.display.end()
    process.on('exit', last)
    this.undo = [
      captured(streams, (line) => this.print(...folded(escaped(line), style.columns - 1).split('\n'))),
      () => clearInterval(tick),
      () => out?.off?.('resize', resized),
      () => process.off('exit', last),
    ]
    this.update()
  }

  print(...lines: readonly string[]): void {
    if (lines.length > 0) this.display.print(...lines)
    else this.display.update()
  }

  update(): void {
    this.display.update()
  }

  takeLine(): string {
    return this.input?.takeLine() ?? ''
  }

  putLine(line: string): void {
    this.input?.putLine(line)
  }

  /** Gives the terminal back, as it was. Waits a moment for one that does not read. */
  async end(): Promise<void> {
    const { input } = this
    if (input === undefined) return
    this.input = undefined
    const until = performance.now() + LAST_WORDS_MS
    while (this.output.isBusy && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10))
    this.display.end()
    input.close()
    for (const undo of this.undo.splice(0)) undo()
    this.output.close()
  }

  private rows(): Rows {
    const { handlers, input } = this
    const { style, streams } = this.parts
    const { columns, paint } = style
    if (handlers === undefined || input === undefined) return { rows: [''], row: 0, column: 0 }
    const waiting = handlers.waiting()
    const question = handlers.question()
    const tail = handlers.tail()
    const above = [
      ...(tail === '' ? [] : [fitted(tail, columns - 1)]),
      ...(waiting === undefined || question !== undefined
        ? []
        : [paint.dim(fitted(`${FRAMES.charAt(this.frame++ % FRAMES.length)} ${waiting}`, columns - 1))]),
    ]
    const most = Math.max(1, (streams[0]?.rows || DEFAULT_ROWS) - above.length - 1)
    const editor = editorRows(input.draft(question === undefined ? '> ' : 'y/N '), columns, most)
    return { rows: [...above, ...editor.rows], row: above.length + editor.row, column: editor.column }
  }
}
