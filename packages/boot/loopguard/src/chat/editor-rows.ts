import stringWidth from 'string-width'
import { escaped } from '../show/terminal.ts'
import type { Rows } from './region.ts'

const graphemes = new Intl.Segmenter()

/** A line that is being typed, and where in it the cursor is, counted in its units. */
export interface Draft {
  readonly prompt: string
  readonly line: string
  readonly cursor: number
}

/** The rows that a draft takes; of a long one, `most` rows around the cursor. */
export function editorRows({ prompt, line, cursor }: Draft, columns: number, most: number): Rows {
  const rows = ['']
  let width = 0
  const add = (text: string): void => {
    for (const { segment } of graphemes.segment(safe(text))) {
      const wide = stringWidth(segment)
      if (width + wide > columns - 1) {
        rows.push('')
        width = 0
      }
      rows[rows.length - 1] += segment
      width += wide
    }
  }
  add(prompt)
  add(line.slice(0, cursor))
  const [row, column] = [rows.length - 1, width]
  add(line.slice(cursor))
  const first = Math.max(0, Math.min(row - most + 1, rows.length - most))
  return { rows: rows.slice(first, first + most), row: row - first, column }
}

/** What is pasted may hold anything. */
function safe(text: string): string {
  return escaped(text).replaceAll('\t', '    ').replaceAll('\n', '\\n')
}
