import { escaped } from '../show/terminal.ts'
import { folded } from '../show/width.ts'

/** Text that comes in pieces, as lines: what can still grow is kept back. */
export class StreamedText {
  private tail = ''
  private readonly columns: () => number
  /** Whether something has come since it began anew. */
  hasText = false

  constructor(columns: () => number) {
    this.columns = columns
  }

  /** What has not become a line yet, safe for a terminal. */
  get rest(): string {
    return this.tail
  }

  /** Takes a piece. Returns the lines that are whole now. */
  add(text: string): string[] {
    if (text === '') return []
    this.hasText = true
    const lines = (this.tail + escaped(text)).split('\n').flatMap((line) => folded(line, this.columns()).split('\n'))
    this.tail = lines.pop() ?? ''
    return lines
  }

  /** Nothing more comes of it. Returns what is left, if there is something. */
  end(): string[] {
    const { tail } = this
    this.tail = ''
    this.hasText = false
    return tail === '' ? [] : [tail]
  }
}
