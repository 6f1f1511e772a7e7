import { head, quote } from './quote.ts'

/** A container that is being written. */
class Frame {
  readonly values: Container
  /** Sorted; of an array, none. */
  readonly keys: readonly string[] | undefined
  readonly size: number
  readonly outer: Frame | undefined
  readonly depth: number
  /** The place that comes next. */
  at = 0

  constructor(values: Container, outer: Frame | undefined) {
    this.values = values
    this.keys = Array.isArray(values) ? undefined : sorted(Object.keys(values))
    this.size = this.keys === undefined ? (values as readonly unknown[]).length : this.keys.length
    this.outer = outer
    this.depth = outer === undefined ? 1 : outer.depth + 1
  }
}

type Container = readonly unknown[] | Readonly<Record<string, unknown>>

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
 * @param begin - what stands before it.
 * @param other - the text for what JSON cannot hold: `undefined`, a bigint, a number out of range, an instance of a class.
 * @throws TypeError for a value that holds itself, RangeError for one of more than 67,108,864 characters, and what getters throw.
 */
export function canonical(root: unknown, other: (value: unknown) => string, write: (chunk: string) => void, begin = ''): string {
  let frame: Frame | undefined
  let value = root
  let text = begin
  let written = 0
  for (;;) {
    if (typeof value === 'string') text += quote(value)
    else if (typeof value === 'boolean' || value === null || Number.isFinite(value)) text += String(value)
    else if (!isContainer(value)) text += other(value)
    else {
      frame = new Frame(value, frame)
      assertNoCircle(frame)
      text += frame.keys === undefined ? '[' : '{'
    }
    while (frame !== undefined && frame.at === frame.size) {
      text += frame.keys === undefined ? ']' : '}'
      frame = frame.outer
    }
    if (text.length > CHUNK) {
      written += text.length
      if (written > MAX_LENGTH) throw new RangeError(`the arguments are longer than ${MAX_LENGTH} characters`)
      write(text)
      text = ''
    }
    if (frame === undefined) return text
    const { keys, values } = frame
    const at = frame.at++
    if (at > 0) text += ','
    if (keys === undefined) value = (values as readonly unknown[])[at]
    else {
      const key = keys[at] as string
      text += head(key)
      value = (values as Readonly<Record<string, unknown>>)[key]
    }
  }
}

/** What JSON nests: an array, or a plain object, of another realm too. An instance of a class is neither. */
function isContainer(value: unknown): value is Container {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Looked for at depths that double, so that it costs no more than the walk. */
function assertNoCircle(innermost: Frame): void {
  const { depth } = innermost
  if (depth < 1_024 || (depth & (depth - 1)) !== 0) return
  const around = new Set<Container>()
  for (let frame: Frame | undefined = innermost; frame !== undefined; frame = frame.outer) around.add(frame.values)
  if (around.size < depth) throw new TypeError('the arguments hold themselves')
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
