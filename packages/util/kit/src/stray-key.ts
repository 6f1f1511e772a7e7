import { keyHint } from './nearest.ts'
import { show } from './show.ts'

/**
 * A key of an answer that is in none of `known`, in words that follow the answer's name: `has the key "reson", which nothing here reads,
 * did you mean …`. What is not read would be lost without a word. A key that holds `undefined` does not count.
 */
export function strayKey(answer: object, known: readonly string[]): string | undefined {
  const stray = Object.keys(answer).find((key) => !known.includes(key) && (answer as Readonly<Record<string, unknown>>)[key] !== undefined)
  return stray === undefined ? undefined : `has the key ${show(stray)}, which nothing here reads${keyHint(stray, known)}`
}
