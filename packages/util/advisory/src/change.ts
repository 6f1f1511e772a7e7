import { hash } from 'node:crypto'

/** Two outcomes compared as the guards should: the same, another, or not to be said in this plain way. */
export type Change = 'same' | 'other' | 'unknown'

export interface Seen {
  readonly exact: string
  readonly rest: string
}

/** A word in which something may be masked. */
const MAY_BE_MASKED = /\d|[\da-f]{8}-/i
/** The space before a unit, which is masked with its number. */
const BEFORE_UNIT = /(?<=[\da-f]) (?=(?:[nuµμm]?s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|z|utc|gmt)(?![\da-z]))/gi

/** The words of a date that is masked with its time: as good as digits. */
const OF_A_DATE = /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b,?/g

/** What it takes to compare an outcome with the next one: two digests. */
export function seenOf({ isError, text }: { readonly isError: boolean; readonly text: string }): Seen {
  const words = text.replace(BEFORE_UNIT, '').replace(OF_A_DATE, '0').split(/\s+/)
  const untouched = words.filter((word) => word !== '' && !MAY_BE_MASKED.test(word)).join(' ')
  return { exact: digest(`${isError}${text}`), rest: digest(`${isError}${untouched}`) }
}

/** Equal to the letter, or different in words that no mask touches; anything between is not told here. */
export function changeOf(last: Seen, next: Seen): Change {
  if (last.exact === next.exact) return 'same'
  return last.rest === next.rest ? 'unknown' : 'other'
}

function digest(text: string): string {
  return hash('sha256', text, 'base64')
}
