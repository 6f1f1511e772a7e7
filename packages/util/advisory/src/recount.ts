import { hash } from 'node:crypto'

/** Whether calls of a tool count, told anew: where in the name may that part of the pattern end which was read? */
export function matches(pattern: string, name: string): boolean {
  let ends = [0]
  const places = [...name.split('').keys(), name.length]
  for (const unit of pattern.split('')) {
    const [first = Infinity] = ends
    ends = unit === '*' ? places.slice(first) : ends.filter((end) => name[end] === unit).map((end) => end + 1)
  }
  return ends.at(-1) === name.length
}

/** The types of what JSON holds besides numbers; what a host leaves undefined is no other value. */
const OF_JSON: ReadonlySet<string> = new Set(['string', 'boolean', 'object', 'undefined'])

/** A longer key is kept as a digest. */
const MAX_KEY = 256

/** What two calls share if they are the same, told anew. Nothing for arguments that are no JSON, or more than this plain way can take. */
export function keyOf(name: string, args: unknown): string | undefined {
  let left = 100_000
  const canonical = (value: unknown): string => {
    if (left-- === 0 || (typeof value === 'number' ? !Number.isFinite(value) : !OF_JSON.has(typeof value))) throw new TypeError()
    if (typeof value !== 'object' || value === null) return `${JSON.stringify(value)}`
    if (Array.isArray(value)) return `[${Array.from(value, canonical).join()}]`
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) throw new TypeError('no JSON')
    const members = value as Readonly<Record<string, unknown>>
    return `{${Object.keys(members)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonical(members[key])}`)
      .join()}}`
  }
  try {
    const key = `${JSON.stringify(name)}${canonical(args)}`
    // A digest is no JSON: it cannot be the key of another call.
    return key.length <= MAX_KEY ? key : hash('sha256', key, 'base64')
  } catch {
    return undefined
  }
}

export const isList = <T>(value: unknown): value is readonly T[] => Array.isArray(value)
