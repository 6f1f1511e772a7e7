import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'

/** Below this, a column of text is not readable any more: then lines are longer than the terminal. */
const MIN_COLUMNS = 12
const TAB = '    '
const graphemes = new Intl.Segmenter()

/**
 * One line of text after its lead, broken between words where it is longer than `columns`. What follows keeps the indent: of the lead,
 * and of the text itself.
 *
 * @param lead - may hold colours.
 * @param text - without line breaks.
 */
export function hanging(lead: string, text: string, columns: number): string {
  const line = text.replaceAll('\t', TAB)
  const own = /^ */.exec(line)?.[0] ?? ''
  const indent = Math.max(0, Math.min(stringWidth(lead) + own.length, columns - MIN_COLUMNS))
  if (stringWidth(lead) + stringWidth(line) <= columns) return lead + line
  const rows = wrapAnsi(line.slice(own.length), Math.max(MIN_COLUMNS, columns - indent), { hard: true }).split('\n')
  return lead + own + rows.join(`\n${' '.repeat(indent)}`)
}

/** The text if it fits into so many columns, else as much of it as does, with `…` at the end. */
export function fitted(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text
  let shown = ''
  let width = 0
  for (const { segment } of graphemes.segment(text)) {
    width += stringWidth(segment)
    if (width > columns - 1) break
    shown += segment
  }
  return `${shown}…`
}

/** Every line of a text, in the same way; the number of an item of a list belongs to its indent. */
export function folded(text: string, columns: number): string {
  return text.replaceAll(/^(?=.)( *(?:\d+\. )?)(.*)$/gm, (_, lead: string, line: string) => hanging(lead, line, columns))
}
