import { inspect } from 'node:util'

/** One object or array, seen by its keys. */
export type Container = Record<Key, unknown>
export type Key = string | number

/** Throws: what stands at `key`, or the container itself, cannot be kept. */
export type Refuse = (why: string, key?: Key) => never

/** A copy of one container, one level deep, that has lost nothing. */
export function copyContainer(source: object, refuse: Refuse): Container {
  return (Array.isArray(source) ? copyArray(source, refuse) : copyObject(source, refuse)) as Container
}

/** Keys of the containers in `container`. The scalars are judged on the way, and `-0` becomes `0`. */
export function nestedKeys(container: Container, refuse: Refuse): Key[] | undefined {
  let nested: Key[] | undefined
  const keys = Array.isArray(container) ? undefined : Object.keys(container)
  const length = keys === undefined ? (container as unknown as unknown[]).length : keys.length
  for (let index = 0; index < length; index++) {
    const key = keys === undefined ? index : (keys[index] as string)
    const value = container[key]
    if (typeof value === 'string') continue
    if (typeof value === 'object' && value !== null) (nested ??= []).push(key)
    else if (Object.is(value, -0)) container[key] = 0
    else {
      const why = scalarFault(value)
      if (why !== undefined) refuse(why, key)
    }
  }
  return nested
}

/** Why JSON cannot hold this scalar, if it cannot. */
export function scalarFault(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `is ${value}: a number must be finite`
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  return value === undefined ? 'is undefined' : `is a ${typeof value}`
}

function copyObject(source: object, refuse: Refuse): object {
  const prototype: unknown = Object.getPrototypeOf(source)
  // A plain object of another realm has another Object.prototype, which inherits from nothing too.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) refuse(`is ${named(source)}, not a plain object`)
  const [symbol] = Object.getOwnPropertySymbols(source)
  if (symbol !== undefined) refuse(`has the symbol key ${String(symbol)}`)
  // Key by key: a copy that was spread or assigned at once is slow to read the first time, once it is frozen.
  const copy: Container = {}
  for (const key of Object.getOwnPropertyNames(source)) {
    const descriptor = Object.getOwnPropertyDescriptor(source, key)
    if (descriptor === undefined || !('value' in descriptor)) refuse('is an accessor', key)
    else if (!descriptor.enumerable) refuse('is not enumerable', key)
    else if (key === '__proto__') Object.defineProperty(copy, key, { value: descriptor.value as unknown, enumerable: true, writable: true })
    else copy[key] = descriptor.value
  }
  return copy
}

function copyArray(source: unknown[], refuse: Refuse): unknown[] {
  // A subclass has a prototype that is no array; Array.prototype is one, in every realm.
  if (!Array.isArray(Object.getPrototypeOf(source))) refuse(`is ${named(source)}, not a plain array`)
  for (let index = 0; index < source.length; index++) {
    if (source[index] !== undefined) continue
    refuse(Object.hasOwn(source, index) ? 'is undefined' : 'is a hole: an array must have no gaps', index)
  }
  if (!hasOnlyElements(source)) {
    const extra = Reflect.ownKeys(source).find((key) => key !== 'length' && !(typeof key === 'string' && isIndex(key, source.length)))
    if (extra !== undefined) refuse(`is an array with the extra property ${String(extra)}`)
  }
  return Array.prototype.slice.call(source)
}

/** Of a longer array the keys are not listed: that would make a string of each index. To inspect it without elements costs little, at any length. */
const MAX_LISTED = 64
const WITHOUT_ELEMENTS = { maxArrayLength: 0, depth: 0, showHidden: true, customInspect: false, breakLength: Infinity } as const

/** May say no when it is so: then the keys are listed after all. */
function hasOnlyElements(source: unknown[]): boolean {
  const { length } = source
  if (length <= MAX_LISTED) return Object.keys(source).length === length && Object.getOwnPropertySymbols(source).length === 0
  return inspect(source, WITHOUT_ELEMENTS) === `[ ... ${length} more items, [length]: ${length} ]`
}

function isIndex(key: string, length: number): boolean {
  const index = Number(key)
  return Number.isInteger(index) && index >= 0 && index < length && String(index) === key
}

function named(source: object): string {
  const name: unknown = (source as { constructor?: { name?: unknown } }).constructor?.name
  return typeof name === 'string' && name !== '' ? `a ${name}` : 'an exotic object'
}
