import { Region, type Rows } from './region.ts'
import type { TerminalOutput } from './terminal-output.ts'

/** What waits for a terminal that reads nothing, in characters; beyond that, the oldest is dropped, which is said. */
const MAX_WAITING = 1_000_000

/**
 * What a conversation looks like: lines that stay, and below them a few rows that change. One text goes to the terminal at a time, made of
 * all that has come until then, so nothing is torn, and a terminal that is slow gets fewer of them.
 */
export class Display {
  private readonly output: TerminalOutput
  private readonly region = new Region()
  private readonly rows: () => Rows
  private waiting: string[] = []
  private length = 0
  private dropped = 0
  private isDue = false
  private isOver = false
  private isPaused = false

  /** @param rows - what stands at the bottom now; asked for whenever something is drawn. */
  constructor(output: TerminalOutput, rows: () => Rows) {
    this.output = output
    this.rows = rows
    output.onDrain = () => {
      if (this.isDue) this.flush()
    }
  }

  /** Prints lines that stay; they are safe for a terminal. */
  print(...lines: readonly string[]): void {
    for (const line of lines) {
      this.waiting.push(line)
      this.length += line.length
    }
    while (this.length > MAX_WAITING && this.waiting.length > 1) {
      this.length -= this.waiting.shift()?.length ?? 0
      this.dropped++
    }
    this.update()
  }

  /** What stands at the bottom has changed. Drawn when all that happens now has happened. */
  update(): void {
    if (this.isDue) return
    this.isDue = true
    setImmediate(() => {
      if (this.isDue) this.flush()
    })
  }

  /** Draws now, unless the terminal has not taken yet what came before. */
  flush(): void {
    if (this.isPaused || this.isOver || this.output.isBusy) return
    this.isDue = false
    this.output.write(this.region.erase() + this.take() + this.region.draw(this.rows()))
  }

  /** Takes the rows away, and draws nothing until it is resumed. */
  pause(): void {
    if (!this.output.isBusy) this.output.write(this.region.erase() + this.take())
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
    this.flush()
  }

  /** Draws what is left to say, without the rows, and nothing after it. */
  end(): void {
    if (this.isOver) return
    this.isOver = true
    if (this.output.isBusy) return
    this.output.write(this.region.erase() + this.take())
  }

  private take(): string {
    const lines = this.dropped > 0 ? [`… ${this.dropped} lines are not shown: the terminal did not read`, ...this.waiting] : this.waiting
    Object.assign(this, { waiting: [], length: 0, dropped: 0 })
    return lines.map((line) => `${line}\n`).join('')
  }
}
