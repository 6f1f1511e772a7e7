/**
 * Written out, a value of more containers than this is taken to be one in which some stand in many places: then each is looked at once,
 * which takes a table of them. A million levels are below it.
 */
export const MANY = 1_048_576

/** An array, or a plain object: what JSON nests. */
export type Container = readonly unknown[] | Readonly<Record<string, unknown>>

/** An object of another realm is plain too. An instance of a class is not: it counts as the text that JSON makes of it. */
export function isPlain(value: object): value is Readonly<Record<string, unknown>> {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null
}

export function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null && (Array.isArray(value) || isPlain(value))
}

/** Keys in canonical order; of an array, none. */
export function keysOf(container: Container): readonly string[] | undefined {
  return Array.isArray(container) ? undefined : Object.keys(container).sort()
}

/** What the container holds, in canonical order. */
export function valuesOf(container: Container, keys: readonly string[] | undefined): readonly unknown[] {
  return keys === undefined ? (container as readonly unknown[]) : keys.map((key) => (container as Readonly<Record<string, unknown>>)[key])
}

/**
 * Computes something of a container from what was computed of those in it. Iterative; a container that stands in several places
 * is visited once, so the cost is that of what is really there and not of what it would be written out.
 *
 * @throws TypeError when a container holds itself.
 */
export function bottomUp<T>(root: Container, combine: (container: Container, of: (child: Container) => T) => T): T {
  const done = new Map<Container, T>()
  const open = new Set<Container>()
  const pending = [root]
  const of = (child: Container): T => done.get(child) as T
  for (let node = pending.at(-1); node !== undefined; node = pending.at(-1)) {
    if (open.delete(node)) done.set(node, combine(node, of))
    if (done.has(node)) {
      pending.pop()
      continue
    }
    open.add(node)
    for (const child of valuesOf(node, keysOf(node))) {
      if (!isContainer(child) || done.has(child)) continue
      if (open.has(child)) throw new TypeError('the arguments hold themselves')
      pending.push(child)
    }
  }
  return of(root)
}
