import pc from 'picocolors'

type Colors = ReturnType<typeof pc.createColors>

/** How to write to one stream. */
export interface Style {
  /** A person reads along: indent, shorten, and let no control character through. */
  readonly isTerminal: boolean
  /** Whether what was written can be taken back. */
  readonly movesCursor: boolean
  /** How wide it is now. */
  readonly columns: number
  readonly paint: Colors
}

const DEFAULT_COLUMNS = 80

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Colours are for terminals. `NO_COLOR` (https://no-color.org) turns them off, `FORCE_COLOR` turns them on where there is no
 * terminal; where both are set, there are none.
 */
export function styleOf(stream: { readonly isTTY?: boolean; readonly columns?: number }, env: Environment = process.env): Style {
  const isTerminal = stream.isTTY === true
  const movesCursor = isTerminal && env['TERM'] !== 'dumb'
  const forced = env['FORCE_COLOR']
  const wanted = forced === undefined || forced === '' ? movesCursor : forced !== '0' && forced !== 'false'
  const refused = env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== ''
  return {
    isTerminal,
    movesCursor,
    // Some terminals say 0 when they do not know.
    get columns() {
      return stream.columns || DEFAULT_COLUMNS
    },
    paint: pc.createColors(wanted && !refused),
  }
}

/** Control characters and those that turn the direction of text: a tool or a model could use them to rewrite the screen. */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}]/gu

/** The same text with unsafe characters spelled out; line breaks and tabs stay. */
export function escaped(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSAFE, (char) => {
    if (char === '\n' || char === '\t') return char
    const code = char.codePointAt(0) ?? 0
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
  })
}
