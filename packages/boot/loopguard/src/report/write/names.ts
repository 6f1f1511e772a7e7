import { basename } from 'node:path'

const ENDINGS = /\.(?:jsonl|json|ndjson|log|txt)$/i
const LONGEST = 100

/** The name of what was read, without folder and ending. Standard input has none. */
export function nameOf(file: string): string {
  if (file === '-') return 'report'
  const name = basename(file)
  return name.replace(ENDINGS, '') || name
}

/** Names that mean devices on Windows, with any ending. */
const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i

/**
 * Names for the pages of many sessions: letters, digits, `-`, `_` and `.` only, none twice on a file system that ignores case, and none that
 * the table of them has.
 */
export class PageNames {
  private readonly taken = new Set(['index'])

  of(name: string): string {
    const plain = name
      .normalize('NFC')
      .replaceAll(/[^A-Za-z0-9._-]+/g, '_')
      .replace(/^\.+/, '_')
      .slice(0, LONGEST)
    const stem = plain === '' || DEVICES.test(plain.split('.')[0] as string) ? `_${plain}` : plain
    let free = stem
    for (let copy = 2; this.taken.has(free.toLowerCase()); copy++) free = `${stem}-${copy}`
    this.taken.add(free.toLowerCase())
    return `${free}.html`
  }
}
