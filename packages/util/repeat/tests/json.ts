import fc from 'fast-check'

const key: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', 'length', '', '0', '10', '9', 'a', 'b', 'c', '\ud800', 'a\u0000b', 'é'),
  // No lone backslash: after such a key Node 24 and 26 misread those that begin with an escape (nodejs/node#63785).
  fc.string({ maxLength: 6 }).filter((key) => key !== '\\'),
)

/** JSON values as wild as they come: own `__proto__` keys, lone surrogates, keys that look like indices, repeated shapes, no `undefined`. */
export const json: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown; scalar: unknown; list: unknown[]; object: Record<string, unknown> }>(
  (tie) => ({
    value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, tie('scalar'), tie('list'), tie('object')),
    scalar: fc.oneof(
      fc.constantFrom(null, true, false, 0, -0, 1, -1, '', 'a', '\ud800', '\udc00', '\ud83d\ude00', 2 ** 31, -(2 ** 31), 1e300, 0.1),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) }),
    ),
    list: fc.array(tie('value'), { maxLength: 6 }),
    object: fc
      .array(fc.tuple(key, tie('value')), { maxLength: 8 })
      .map((entries) => entries.reduce<Record<string, unknown>>((object, [name, value]) => put(object, name, value), {})),
  }),
).value

/** As `JSON.parse` does: `__proto__` becomes a key like any other. */
export function put(object: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  return Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true })
}

/** The same value with the keys of each object in another order. */
export function reordered(value: unknown, pick: (count: number) => number): unknown {
  if (Array.isArray(value)) return value.map((item) => reordered(item, pick))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const object: Record<string, unknown> = {}
  while (entries.length > 0) {
    const [entry] = entries.splice(pick(entries.length), 1)
    if (entry !== undefined) put(object, entry[0], reordered(entry[1], pick))
  }
  return object
}

/** Equality as JSON, told in the plainest way. */
export function equalAsJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => equalAsJson(item, b[index]))
  if (typeof a !== 'object' || a === null) return a === b
  if (typeof b !== 'object' || b === null || Array.isArray(b)) return false
  const keys = Object.keys(a)
  const read = (object: object, name: string): unknown => (object as Record<string, unknown>)[name]
  return keys.length === Object.keys(b).length && keys.every((name) => Object.hasOwn(b, name) && equalAsJson(read(a, name), read(b, name)))
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const item of Object.values(value)) deepFreeze(item)
    Object.freeze(value)
  }
  return value
}
