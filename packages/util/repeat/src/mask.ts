import { piecesOf } from './pieces.ts'

/** Stands for what was masked: the object replacement character, which text hardly ever holds. */
const MASK = '\uFFFC'

/** Date and time of day, or a time of day with seconds. */
const TIMESTAMP =
  /(?<!\d)\d\d(?:\d\d[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?|:\d\d:\d\d(?:[.,]\d+)?)(?!\d)(?: ?(?:Z|UTC|GMT)(?:[+-]\d\d:?\d\d)?\b| ?[+-]\d\d:?\d\d\b)?/g
/** A date in words before a time that was masked, and the year behind it, as mail, HTTP and `date` have them. */
const WRITTEN_DATE =
  /(?:\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?\b(?:\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}\d{1,2})(?: \d{4})? \uFFFC(?: \d{4}\b)?/g
const UUID = /(?<![\da-f])[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/gi
/** A word of hexadecimal digits and hyphens; {@link isVolatile} says which are masked. */
const HEX_WORD = /(?<![\da-z])(?:0x)?(?=[\da-f-]{8})[\da-f][\da-f-]*[\da-f](?![\da-z])/gi
/** A measured one: with a fraction, or in a unit below the second. A whole number of seconds may be the age that a poll waits for. */
const DURATION = /(?<![\d.])(?:\d+\.\d+ ?(?:[nuµμm]?s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)|\d+ ?[nuµμm]s)(?![\da-z])/gi
/** In an error, whole numbers too, and up to four in a row, such as `1m 30s`. */
const ANY_DURATION =
  /(?<![\d.])\d+(?:\.\d+)? ?(?:[nuµμm]?s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)(?: ?\d+(?:\.\d+)? ?(?:[nuµμm]?s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)){0,3}(?![\da-z])/gi
const DIGITS = /\d+/g
/** Without one of these there is nothing to mask. */
const MAY_BE_VOLATILE = /\d|(?<![a-f])[a-f]{8}-/i

/**
 * A text without what differs from one run to the next: timestamps, UUIDs, hexadecimal ids, durations; in an error every run of digits.
 * Time is linear in the text, memory bounded beside it. docs/evidence.md shows the expressions.
 */
export function* masked(text: string, isError: boolean): Generator<string> {
  for (const piece of piecesOf(text)) yield MAY_BE_VOLATILE.test(piece) ? maskedPiece(piece, isError) : piece
}

function maskedPiece(piece: string, isError: boolean): string {
  const timeless = piece.replace(TIMESTAMP, MASK)
  const rest = (timeless.includes(MASK) ? timeless.replace(WRITTEN_DATE, MASK) : timeless)
    .replace(UUID, MASK)
    .replace(HEX_WORD, (word) => (isVolatile(word) ? MASK : word))
  return isError ? rest.replace(ANY_DURATION, MASK).replace(DIGITS, MASK) : rest.replace(DURATION, MASK)
}

/** At least eight digits, among them one of 0-9 and one of a-f; from sixteen on without a letter too. */
function isVolatile(word: string): boolean {
  let [decimals, letters] = [0, 0]
  for (let at = /^0x/i.test(word) ? 2 : 0; at < word.length; at++) {
    const unit = word.charCodeAt(at)
    if (unit >= 0x30 && unit <= 0x39) decimals++
    else if (unit !== 0x2d) letters++
  }
  return decimals > 0 && decimals + letters >= (letters > 0 ? 8 : 16)
}
