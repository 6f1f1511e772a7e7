import { bottomUp, type Container, isContainer, keysOf, MANY, valuesOf } from './containers.ts'

/**
 * The arguments as canonical JSON on one line of well-formed text, cut after `limit` code points with the number of those left out.
 *
 * Iterative. What is cut away is counted, not built: each container and each text is looked at once.
 *
 * @throws TypeError when the arguments hold themselves, and whatever a `toJSON` method throws.
 */
export function previewOf(args: unknown, limit: number, many: number = MANY): string {
  const head = headOf(args, limit)
  const shown = firstPoints(head, limit)
  if (shown.length === head.length) return shown
  return `${shown}… (+${lengthOf(args, many) - limit} more chars)`
}

/** On one line, and nothing that changes how the line around it reads: control characters, line separators and lone surrogates are escaped. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The first `count` code points. */
export function firstPoints(text: string, count: number): string {
  if (text.length <= count) return text
  let end = 0
  for (let points = 0; points < count && end < text.length; points++) end += (text.codePointAt(end) as number) > 0xffff ? 2 : 1
  return text.slice(0, end)
}

interface Frame {
  readonly keys: readonly string[] | undefined
  readonly values: readonly unknown[]
  next: number
}

/** The beginning of the JSON text: all of it, or more than `limit` code points. */
function headOf(args: unknown, limit: number): string {
  // No code point takes more than two units.
  const enough = limit * 2 + 1
  const frames: Frame[] = []
  let text = ''
  const add = (value: unknown): void => {
    if (isContainer(value)) {
      const keys = keysOf(value)
      frames.push({ keys, values: valuesOf(value, keys), next: 0 })
      text += keys === undefined ? '[' : '{'
    } else {
      text += leaf(typeof value === 'string' ? value.slice(0, enough) : value)
    }
  }
  add(args)
  for (let frame = frames.at(-1); frame !== undefined && text.length < enough; frame = frames.at(-1)) {
    const { keys, values, next } = frame
    if (next === values.length) {
      text += keys === undefined ? ']' : '}'
      frames.pop()
      continue
    }
    frame.next++
    if (next > 0) text += ','
    if (keys !== undefined) text += `${leaf((keys[next] as string).slice(0, enough))}:`
    add(values[next])
  }
  return text
}

/** Code points of the JSON text of a value that is no container. */
type Measure = (value: unknown) => number

/** Code points of the whole JSON text. */
function lengthOf(args: unknown, many: number): number {
  const known = new Map<string, number>()
  const measure: Measure = (value) => {
    if (typeof value !== 'string' || value.length <= SHORT) return leafLength(value)
    const length = known.get(value) ?? leafLength(value)
    known.set(value, length)
    return length
  }
  if (!isContainer(args)) return measure(args)
  return (
    lengthAsTree(args, measure, many) ??
    bottomUp<number>(args, (container, of) => {
      const values = Object.values(container)
      return ownLength(container, values, measure) + sumOf(values.filter(isContainer), of)
    })
  )
}

/** The same without a table of the containers, or `undefined` when there is too much to look at. */
function lengthAsTree(args: Container, measure: Measure, many: number): number | undefined {
  const pending = [args]
  let length = 0
  let work = 0
  for (let container = pending.pop(); container !== undefined; container = pending.pop()) {
    const values: readonly unknown[] = Object.values(container)
    work += 1 + values.length
    if (work > 2 * many) return undefined
    length += ownLength(container, values, measure)
    for (const value of values) if (isContainer(value)) pending.push(value)
  }
  return length
}

/** Code points of the container without those of the containers in it. */
function ownLength(container: Container, values: readonly unknown[], measure: Measure): number {
  const length = 2 + Math.max(0, values.length - 1) + sumOf(values, (value) => (isContainer(value) ? 0 : measure(value)))
  return Array.isArray(container) ? length : length + sumOf(Object.keys(container), (key) => measure(key) + 1)
}

function sumOf<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((sum, item) => sum + of(item), 0)
}

/** Longer text is measured once, wherever it stands. */
const SHORT = 256

/** Text is written this much at a time: escaped, a very long one would be longer than a string can be. */
const PIECE = 65_536

function leafLength(value: unknown): number {
  if (typeof value !== 'string') return points(leaf(value))
  let length = 2
  for (let from = 0, to = 0; from < value.length; from = to) {
    to = Math.min(from + PIECE, value.length)
    if ((value.codePointAt(to - 1) as number) > 0xffff) to++
    length += points(leaf(value.slice(from, to))) - 2
  }
  return length
}

/** JSON has its own escapes for all that `oneLine` escapes but the line separators and the control characters from U+007F on. */
function leaf(value: unknown): string {
  return oneLine(typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? String(value)))
}

function points(text: string): number {
  let count = text.length
  for (let index = 0; index < text.length; index++) {
    if ((text.charCodeAt(index) & 0xfc00) === 0xd800) count--
  }
  return count
}
