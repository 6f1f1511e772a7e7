import xterm from '@xterm/headless'
import { type IPty, spawn } from '@lydell/node-pty'
import { onTestFinished } from 'vitest'
import { COMMAND, ROOT } from './cli.ts'

export interface TerminalOptions {
  readonly cwd?: string
  readonly columns?: number
  readonly rows?: number
  readonly env?: Readonly<Record<string, string>>
}

/**
 * The command on a pseudo terminal, and what a person sees there: its output goes through an emulator of a terminal. The binaries of
 * `@lydell/node-pty` come with its package, so nothing is compiled.
 */
export class Terminal {
  /** All that was written, with its control sequences. */
  output = ''
  readonly ended: Promise<number>
  readonly cwd: string
  private readonly pty: IPty
  private readonly emulator: InstanceType<typeof xterm.Terminal>
  private readonly looks = new Set<() => void>()
  private drawn: Promise<void> = Promise.resolve()

  constructor(args: readonly string[], { cwd = ROOT, columns = 80, rows = 40, env = {} }: TerminalOptions = {}) {
    const { NO_COLOR: _, FORCE_COLOR: __, NODE_OPTIONS: ___, ...rest } = process.env
    this.cwd = cwd
    this.emulator = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true })
    this.pty = spawn(process.execPath, [...COMMAND, ...args], {
      cols: columns,
      rows,
      cwd,
      name: env['TERM'] ?? 'xterm-256color',
      env: { ...rest, ...env } as Record<string, string>,
    })
    this.pty.onData((data) => {
      this.output += data
      this.drawn = new Promise<void>((resolve) => this.emulator.write(data, resolve)).then(() => {
        for (const look of this.looks) look()
      })
    })
    this.ended = new Promise((resolve) => this.pty.onExit(({ exitCode, signal }) => resolve(signal ? 128 + signal : exitCode)))
    onTestFinished(() => this.kill('SIGKILL'))
  }

  /** What stands on the screen and above it, one row each, without what is blank at the ends. */
  get lines(): string[] {
    const { active } = this.emulator.buffer
    const rows = Array.from({ length: active.length }, (_, row) => (active.getLine(row)?.translateToString(true) ?? '').trimEnd())
    return rows.slice(0, rows.findLastIndex((row) => row !== '') + 1)
  }

  /** Where the cursor is: its column, and the row that it stands in. */
  get cursor(): { readonly column: number; readonly line: string } {
    const { cursorX, cursorY, baseY } = this.emulator.buffer.active
    return { column: cursorX, line: this.emulator.buffer.active.getLine(baseY + cursorY)?.translateToString(true) ?? '' }
  }

  /** Waits until the screen is as wanted. Ends in an error when the command ends first. */
  async until(what: string | RegExp | ((lines: readonly string[]) => boolean)): Promise<void> {
    const holds = (): boolean => {
      if (typeof what === 'function') return what(this.lines)
      const text = this.lines.join('\n')
      return typeof what === 'string' ? text.includes(what) : what.test(text)
    }
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (!this.looks.has(look) || !holds()) return
        this.looks.delete(look)
        resolve()
      }
      this.looks.add(look)
      look()
      void this.end().then(() => {
        look()
        this.looks.delete(look)
        reject(new Error(`ended without showing ${String(what)}:\n${this.lines.join('\n')}`))
      })
    })
  }

  /** The exit code, once all that was written is drawn. */
  async end(): Promise<number> {
    const code = await this.ended
    await this.drawn
    return code
  }

  type(text: string): void {
    this.pty.write(text)
  }

  resize(columns: number, rows = 40): void {
    this.emulator.resize(columns, rows)
    this.pty.resize(columns, rows)
  }

  /** From now on nobody reads what is written to the terminal. */
  pause(): void {
    this.pty.pause()
  }

  resume(): void {
    this.pty.resume()
  }

  /** The terminal goes away, as when its window is closed. */
  hangUp(): void {
    ;(this.pty as unknown as { destroy(): void }).destroy()
  }

  get isRunning(): boolean {
    try {
      return process.kill(this.pty.pid, 0)
    } catch {
      return false
    }
  }

  kill(signal: NodeJS.Signals): void {
    try {
      process.kill(this.pty.pid, signal)
    } catch {
      // It has ended.
    }
  }
}
