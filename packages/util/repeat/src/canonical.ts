import { head, quote } from './quote.ts'

/** A container that is being written. */
interface Frame {
  readonly values: readonly unknown[] | Readonly<Record<string, unknown>>
  /** Sorted; of an array, none. */
  readonly keys: readonly string[] | undefined
  readonly size: number
  /** The place that comes next. */
  at: number
}

const CHUNK = 16_384
/** No JSON text that a model writes comes near it, but a value in which one object stands in very many places does. */
const MAX_LENGTH = 2 ** 26
/** Up to this many keys, sorting by insertion beats the built-in sort. */
const FEW = 16

/**
 * A value as canonical JSON: no white space, and the keys of each object in the order of their UTF-16 units, as in RFC 8785. Equal values
 * have equal texts, and different ones different texts, in any order of keys.
 *
 * Iterative, one pass, lossless: an own `__proto__` is a key, a lone surrogate is escaped, a million levels are no limit. Nothing of the
 * value is kept or changed. `write` gets the beginning, piece by piece and never cut within a text; what is returned is the end.
 *
 * @param other - the text for what JSON cannot hold: `undefined`, a bigint, a number out of range, an instance of a class.
 * @throws TypeError for a value that holds itself, RangeError for one of more than 67,108,864 characters, and what getters throw.
 */
export function canonical(root: unknown, other: (value: unknown) => string, write: (chunk: string) => void): string {
  const outer: Frame[] = []
  let frame: Frame = { values: [root], keys: undefined, size: 1, at: 0 }
  let text = ''
  let written = 0
  for (;;) {
    if (text.length > CHUNK) {
      written += text.length
      if (written > MAX_LENGTH) throw new RangeError(`the arguments are longer than ${MAX_LENGTH} characters`)
      write(text)
      text = ''
    }
    const { values, keys, size, at } = frame
    if (at === size) {
      const next = outer.pop()
      if (next === undefined) return text
      text += keys === undefined ? ']' : '}'
      frame = next
      continue
    }
    frame.at++
    if (at > 0) text += ','
    if (keys !== undefined) text += head(keys[at] as string)
    const value: unknown = (values as readonly unknown[])[(keys === undefined ? at : keys[at]) as number]
    if (typeof value === 'string') text += quote(value)
    else if (typeof value === 'boolean' || value === null || Number.isFinite(value)) text += String(value)
    else if (!isContainer(value)) text += other(value)
    else {
      outer.push(frame)
      assertNoCircle(outer)
      frame = frameOf(value)
      text += frame.keys === undefined ? '[' : '{'
    }
  }
}

function frameOf(value: Frame['values']): Frame {
  const keys = Array.isArray(value) ? undefined : sorted(Object.keys(value))
  return { values: value, keys, size: keys === undefined ? (value as readonly unknown[]).length : keys.length, at: 0 }
}

/** What JSON nests: an array, or a plain object, of another realm too. An instance of a class is neither. */
function isContainer(value: unknown): value is Frame['values'] {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Looked for at depths that double, so that it costs no more than the walk. */
function assertNoCircle(outer: readonly Frame[]): void {
  if (outer.length < 1_024 || (outer.length & (outer.length - 1)) !== 0) return
  if (new Set(outer.map(({ values }) => values)).size < outer.length) throw new TypeError('the arguments hold themselves')
}

function sorted(keys: string[]): readonly string[] {
  if (keys.length > FEW) return keys.sort()
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index] as string
    let at = index
    while (at > 0 && key < (keys[at - 1] as string)) keys[at] = keys[--at] as string
    keys[at] = key
  }
  return keys
}
