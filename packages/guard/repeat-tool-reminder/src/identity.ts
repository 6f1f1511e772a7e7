import { bottomUp, type Container, isContainer, isPlain, keysOf, MANY, valuesOf } from './containers.ts'
import { Constant, Encoder, Kind } from './encoder.ts'
import { Shapes } from './shapes.ts'

/** So many bytes to each of the `MANY` containers make arguments that are as large: 64 MiB. */
const BYTES = 64
/** Longer text is digested once, wherever it stands, when the arguments are that large. */
const LONG = 8_192

/**
 * The identity of a call: equal for two calls if, and only if, the names are equal and the arguments are equal as JSON, whatever the
 * order of keys. 43 characters (SHA-256), whatever the size of the arguments, nothing of which is kept or changed.
 *
 * Iterative, one pass, lossless: an own `__proto__` is a key, a lone surrogate is itself, a million levels are no limit, and one
 * object that stands in many places costs what it costs once. Text is text: arguments that were no JSON, which a host hands over as the
 * text that they are, equal those whose JSON is that string. What JSON cannot hold (`undefined` for "no arguments", a bigint, a
 * `Date`) is told apart by its kind and its text.
 *
 * @param many - see `MANY`; a part of the identity, for two that are to be compared.
 * @throws whatever getters and `toJSON` methods throw, and TypeError for arguments that hold themselves; JSON has none of these.
 */
export function identityOf(name: string, args: unknown, many: number = MANY): string {
  return digest([name, args], many) ?? (digest([name, 'folded', fold(args as Container)], Infinity) as string)
}

/**
 * The digest of a row of values; `undefined` when the containers in it are more than `many`, or take that many bytes. It depends on the
 * values as JSON alone, not on which parts of them are one object: equal values go the same way.
 */
function digest(row: readonly unknown[], many: number): string | undefined {
  const out = new Encoder()
  try {
    return write(out, row, many) ? out.digest() : undefined
  } finally {
    out.release()
  }
}

function write(out: Encoder, row: readonly unknown[], many: number): boolean {
  const shapes = new Shapes()
  const rows: (readonly unknown[])[] = []
  const places: number[] = []
  let place = 0
  let containers = 0
  for (;;) {
    if (place === row.length) {
      const outer = rows.pop()
      if (outer === undefined) return true
      row = outer
      place = places.pop() as number
      continue
    }
    if (rows.length > 0 && (containers > many || out.hashed > many * BYTES)) return false
    const value = row[place++]
    if (typeof value !== 'object' || value === null) {
      scalar(out, value)
      continue
    }
    let inner: readonly unknown[]
    if (Array.isArray(value)) {
      out.token(Kind.array, value.length)
      inner = value
    } else if (isPlain(value)) {
      inner = shapes.valuesOf(value)
      const { keys, slot } = shapes.shape
      if (shapes.repeats) {
        out.token(Kind.repeatedShape, slot)
      } else {
        out.token(Kind.shape, keys.length)
        for (const key of keys) out.text(key)
      }
    } else {
      out.other(`object ${JSON.stringify(value)}`)
      continue
    }
    containers++
    rows.push(row)
    places.push(place)
    row = inner
    place = 0
  }
}

function scalar(out: Encoder, value: unknown): void {
  if (typeof value === 'string') out.text(value)
  else if (typeof value === 'number') out.number(value)
  else if (value === null) out.token(Kind.constant, Constant.null)
  else if (typeof value === 'boolean') out.token(Kind.constant, value ? Constant.true : Constant.false)
  else out.other(`${typeof value} ${String(value as bigint | symbol | undefined)}`)
}

/** The digest of arguments too large to be written out: each container becomes a row in which those inside it are `[digest]`. */
function fold(args: Container): string {
  const texts = new Map<string, string>()
  const of = (row: readonly unknown[]): string => digest(row, Infinity) as string
  const ofText = (text: string): string => {
    const known = texts.get(text)
    if (known !== undefined) return known
    const made = of(['text', text])
    texts.set(text, made)
    return made
  }
  const inRow = (child: unknown, ofContainer: (child: Container) => string): unknown => {
    if (isContainer(child)) return [ofContainer(child)]
    return typeof child === 'string' && child.length > LONG ? [ofText(child)] : child
  }
  return bottomUp<string>(args, (container, ofContainer) => {
    const keys = keysOf(container)
    const values = valuesOf(container, keys).map((child) => inRow(child, ofContainer))
    return of(keys === undefined ? ['array', ...values] : ['object', keys, ...values])
  })
}
