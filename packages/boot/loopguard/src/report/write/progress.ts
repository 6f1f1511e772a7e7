import type { Outlet } from '../../show/outlet.ts'
import { escaped } from '../../show/terminal.ts'
import { number } from '../numbers.ts'
import { shortened } from '../shortened.ts'

const CLEAR = '\r\u001b[K'
/** Fewer are read before anybody asks. */
const LEAST_TOLD = 100
/** A terminal is not written to more often, in milliseconds. */
const PAUSE_MS = 100

/** Says how far a long report is: on a terminal in one line that goes away again, elsewhere once. */
export class Progress {
  private readonly total: number
  private readonly notes: Outlet
  private done = 0
  private told = 0
  private readonly isLive: boolean

  constructor(total: number, notes: Outlet) {
    this.total = total
    this.notes = notes
    this.isLive = notes.style.isTerminal
    if (!this.isLive && total >= LEAST_TOLD) notes.write(`reading ${number(total)} sessions\n`)
  }

  next(name: string): void {
    this.done++
    const now = Date.now()
    if (!this.isLive || now - this.told < PAUSE_MS) return
    this.told = now
    this.notes.write(`${CLEAR}${number(this.done)} of ${number(this.total)}: ${shortened(escaped(name).replaceAll(/\s+/g, ' '), 40)}`)
  }

  end(): void {
    if (this.told > 0) this.notes.write(CLEAR)
  }
}
