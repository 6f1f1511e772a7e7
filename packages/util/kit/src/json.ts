import { type Container, type Key, nestedKeys, scalarFault } from './container.ts'
import { DeepCopy } from './deep-copy.ts'
import { HarnessError } from './errors.ts'
import { quickCopy } from './quick-copy.ts'
import { isSealed, seal } from './sealed.ts'

/** Any value that JSON can hold. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue }

/** A value that JSON cannot hold; `path` says where it stands. Code `NOT_JSON`. */
export class JsonError extends HarnessError {
  /** Such as `data.list[2]`. */
  readonly path: string

  constructor(path: string, why: string) {
    super(`${path} ${why}`, 'NOT_JSON')
    this.name = 'JsonError'
    this.path = path
  }
}

/**
 * A detached, deep-frozen, lossless copy of a JSON value. Iterative: depth is no limit. What is a snapshot already is returned
 * as it is, at any depth, so that its cost is paid once. Shared references stay shared; `-0` becomes `0`, as JSON text has it.
 *
 * @param name - what the root is called in an error's path.
 * @throws {@link JsonError} on `undefined`, functions, symbols, bigint, non-finite numbers, holes, symbol keys, accessors and
 * hidden properties of objects, extra properties of arrays, objects that are neither plain nor arrays, and cycles.
 */
export function snapshot<T>(value: T, name = 'data'): T {
  if (typeof value === 'object' && value !== null) return (isSealed(value) ? value : copyOf(value, name)) as T
  const why = scalarFault(value)
  if (why !== undefined) throw new JsonError(name, why)
  return Object.is(value, -0) ? (0 as T) : value
}

/**
 * `snapshot(JSON.parse(text))` in one: the parsed value has no other holder and is frozen in place, not copied.
 * @throws SyntaxError as `JSON.parse` does, {@link JsonError} on a number that is out of range.
 */
export function parseSnapshot(text: string, name = 'data'): JsonValue {
  const value = JSON.parse(text) as JsonValue
  if (typeof value !== 'object' || value === null) return snapshot(value, name)
  let isSound = true
  const refuse = (): void => void (isSound = false)
  const nodes: Container[] = [value as Container]
  for (const node of nodes) for (const key of nestedKeys(node, refuse) ?? NONE) nodes.push(node[key] as Container)
  // The copy knows the path of what it refuses.
  if (!isSound) return snapshot(value, name)
  for (const node of nodes) seal(node)
  return value
}

/**
 * {@link snapshot} of an object or array that the caller has just written down, and that nobody else holds: it is frozen in place.
 * Only members that are containers, and no snapshots yet, are copied.
 */
export function asSnapshot<T extends object>(fresh: T, name = 'data'): T {
  const members = fresh as Container
  const refuse = (why: string, key: Key): never => {
    throw new JsonError(name + render([key]), why)
  }
  for (const key of nestedKeys(members, refuse) ?? NONE) {
    const member = members[key] as object
    if (!isSealed(member)) members[key] = copyOf(member, name, key)
  }
  seal(fresh)
  return fresh
}

const NONE: readonly Key[] = []

/** Of what stands in the thing of that name, or at `key` of it. */
function copyOf(value: object, name: string, ...key: readonly Key[]): object {
  const copy = quickCopy(value)
  if (copy !== undefined) return copy
  return new DeepCopy((why, path) => {
    throw new JsonError(name + render([...key, ...path]), why)
  }).of(value)
}

const PLAIN_KEY = /^[A-Za-z_$][\w$]*$/
const MAX_STEPS = 20

function render(steps: readonly Key[]): string {
  const shown = steps.map((key) => (typeof key === 'number' ? `[${key}]` : PLAIN_KEY.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`))
  const hidden = shown.length - MAX_STEPS
  if (hidden > 0) shown.splice(MAX_STEPS / 2, hidden, `…(${hidden} more)…`)
  return shown.join('')
}
