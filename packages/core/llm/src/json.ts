import { HarnessError } from './errors.ts'

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

/** Where a node stands: linked towards the root, rendered only when there is something to say. */
interface Place {
  readonly parent: Place | undefined
  readonly key: string | number
}

interface Frame {
  readonly source: object
  readonly copy: Record<string, unknown> | unknown[]
  readonly keys: readonly string[] | undefined
  readonly place: Place
  next: number
}

/** Everything that `snapshot` ever returned: deep-frozen JSON that need not be walked again. */
const snapshots = new WeakSet<object>()

const PLAIN_KEY = /^[A-Za-z_$][\w$]*$/

/**
 * A detached, deep-frozen, lossless copy of a JSON value. Iterative: depth is no limit. What is a snapshot already is returned
 * as it is, at any depth, so that its cost is paid once. Shared references stay shared; `-0` becomes `0`, as JSON text has it.
 *
 * @param name - what the root is called in an error's path.
 * @throws {@link JsonError} on `undefined`, functions, symbols, bigint, non-finite numbers, holes, accessors, symbol keys,
 * objects that are neither plain nor arrays, and cycles.
 */
export function snapshot<T>(value: T, name = 'data'): T {
  const root: Place = { parent: undefined, key: name }
  const stack: Frame[] = []
  const copies = new Map<object, object>()
  const open = new Set<object>()

  const enter = (node: unknown, place: Place): unknown => {
    if (typeof node !== 'object' || node === null) return scalar(node, place)
    if (snapshots.has(node)) return node
    if (open.has(node)) throw new JsonError(render(place), 'is a cycle: it holds itself')
    const done = copies.get(node)
    if (done !== undefined) return done
    const frame = frameOf(node, place)
    copies.set(node, frame.copy)
    open.add(node)
    stack.push(frame)
    return frame.copy
  }

  const result = enter(value, root)
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const { source, copy, keys, place } = frame
    const depth = stack.length
    const length = keys === undefined ? (source as unknown[]).length : keys.length
    while (frame.next < length && stack.length === depth) {
      const index = frame.next++
      if (keys === undefined) {
        const at = { parent: place, key: index }
        if (!Object.hasOwn(source, index)) throw new JsonError(render(at), 'is a hole: an array must have no gaps')
        ;(copy as unknown[])[index] = enter((source as unknown[])[index], at)
      } else {
        const key = keys[index] as string
        put(copy as Record<string, unknown>, key, enter((source as Record<string, unknown>)[key], { parent: place, key }))
      }
    }
    if (stack.length !== depth) continue
    stack.pop()
    open.delete(source)
    Object.freeze(copy)
    snapshots.add(copy)
  }
  return result as T
}

function frameOf(source: object, place: Place): Frame {
  if (Array.isArray(source)) {
    for (const key of Reflect.ownKeys(source)) {
      if (typeof key === 'symbol' || (key !== 'length' && !isIndex(key, source.length))) {
        throw new JsonError(render(place), `is an array with the extra property ${String(key)}`)
      }
      if (key.length > 0 && key !== 'length') refuseAccessor(source, key, place)
    }
    return { source, copy: [], keys: undefined, place, next: 0 }
  }
  const prototype: unknown = Object.getPrototypeOf(source)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    const kind = (source as { constructor?: { name?: unknown } }).constructor?.name
    throw new JsonError(
      render(place),
      `is ${typeof kind === 'string' && kind !== '' ? `a ${kind}` : 'an exotic object'}, not a plain object`,
    )
  }
  const keys: string[] = []
  for (const key of Reflect.ownKeys(source)) {
    if (typeof key === 'symbol') throw new JsonError(render(place), `has the symbol key ${String(key)}`)
    refuseAccessor(source, key, place)
    keys.push(key)
  }
  return { source, copy: {}, keys, place, next: 0 }
}

function refuseAccessor(source: object, key: string, place: Place): void {
  const descriptor = Object.getOwnPropertyDescriptor(source, key)
  if (descriptor === undefined || !('value' in descriptor)) throw new JsonError(render({ parent: place, key }), 'is an accessor')
  if (!descriptor.enumerable) throw new JsonError(render({ parent: place, key }), 'is not enumerable')
}

function isIndex(key: string, length: number): boolean {
  const index = Number(key)
  return Number.isInteger(index) && index >= 0 && index < length && String(index) === key
}

/** Assigning `__proto__` would set the prototype; defining it keeps it as the key that it is. */
function put(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true })
  else target[key] = value
}

function scalar(value: unknown, place: Place): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'object':
      return value
    case 'number':
      if (!Number.isFinite(value)) throw new JsonError(render(place), `is ${value}: a number must be finite`)
      return value === 0 ? 0 : value
    case 'undefined':
      throw new JsonError(render(place), 'is undefined')
    default:
      throw new JsonError(render(place), `is a ${typeof value}`)
  }
}

const MAX_PATH_STEPS = 20

function render(place: Place): string {
  const steps: (string | number)[] = []
  for (let at: Place | undefined = place; at !== undefined; at = at.parent) steps.push(at.key)
  const root = String(steps.pop())
  const shown = steps
    .reverse()
    .map((key) => (typeof key === 'number' ? `[${key}]` : PLAIN_KEY.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`))
  if (shown.length > MAX_PATH_STEPS)
    shown.splice(MAX_PATH_STEPS / 2, shown.length - MAX_PATH_STEPS, `…(${shown.length - MAX_PATH_STEPS} more)…`)
  return root + shown.join('')
}
