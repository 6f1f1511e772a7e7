import { canonical } from './canonical.ts'
import { flat, quote } from './quote.ts'
import { type Digest, digestOf, sha256 } from './sha256.ts'

/** Longer text is kept as a digest. */
const MAX_TEXT = 256

/**
 * Equal for two calls if, and only if, the names are equal and the arguments are equal as JSON: their canonical text while that is short,
 * else `#`, with which no such text begins, and its digest. Text is text: arguments that were no JSON, which a host hands over as the text
 * that they are, equal those whose JSON is that string. What JSON cannot hold is told apart by its kind and its text.
 *
 * @throws as `canonical` does.
 */
export function keyOf(name: string, args: unknown): string {
  let long: Digest | undefined
  const write = (chunk: string): void => {
    long = (long ?? sha256()).update(chunk)
  }
  const rest = `${canonical(args, marked, write, `[${quote(name)},`)}]`
  if (long !== undefined) return `#${long.update(rest).digest('hex')}`
  return rest.length <= MAX_TEXT ? flat(rest) : `#${digestOf(rest)}`
}

/** A key of the same call of which no argument can be read. */
export function digested(key: string): string {
  return key.startsWith('#') ? key : `#${digestOf(key)}`
}

/**
 * A digest (SHA-256, 64 hexadecimal digits) that two calls share if, and only if, they are the same call.
 *
 * @throws TypeError for arguments that hold themselves, RangeError for more than 67,108,864 characters of them.
 */
export function callIdentity(name: string, args: unknown): string {
  return digested(keyOf(name, args)).slice(1)
}

function marked(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value as bigint | symbol | undefined)
  return `!${JSON.stringify(`${typeof value} ${text}`)}`
}
