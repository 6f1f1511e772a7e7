/** Rows at the bottom of a terminal, and where the cursor stands in them. Each row is safe for a terminal, and shorter than it is wide. */
export interface Rows {
  readonly rows: readonly string[]
  readonly row: number
  readonly column: number
}

const ERASE = '\r\u001b[J'
const [NO_WRAP, WRAP] = ['\u001b[?7l', '\u001b[?7h']

const move = (count: number, direction: 'A' | 'C'): string => (count > 0 ? `\u001b[${count}${direction}` : '')

/** Knows where on the terminal the rows are that were drawn last. It makes control sequences, and writes nothing. */
export class Region {
  private row: number | undefined

  /** Takes the rows away; the cursor is where the first one was. */
  erase(): string {
    if (this.row === undefined) return ''
    const up = move(this.row, 'A')
    this.row = undefined
    return `${up}${ERASE}`
  }

  /** Draws rows from the cursor on. */
  draw({ rows, row, column }: Rows): string {
    this.row = row
    return `${NO_WRAP}${rows.join('\n')}${WRAP}\r${move(rows.length - 1 - row, 'A')}${move(column, 'C')}`
  }
}
