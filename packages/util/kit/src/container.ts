import { inspect } from 'node:util'

/** One object or array, seen by its keys. */
export type Container = Record<Key, unknown>
export type Key = string | number

/** What a copy is made for. */
export interface Copying {
  /** A member of the copy is a container. */
  meet(holder: Container, key: Key): void
  /** What stands at `key`, or the container itself, cannot be kept. */
  refuse(why: string, key?: Key): never
}

/** A copy of one container, one level deep, that has lost nothing. `-0` becomes `0`. */
export function copyContainer(source: object, copying: Copying): Container {
  return (Array.isArray(source) ? copyArray(source, copying) : copyObject(source, copying)) as Container
}

/** Keys of the containers in `container`. The scalars are judged on the way, and `-0` becomes `0`. */
export function nestedKeys(container: Container, refuse: (why: string, key: Key) => void): Key[] | undefined {
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

function copyObject(source: object, copying: Copying): object {
  if (!isPlainObject(source)) copying.refuse(`is ${named(source)}, not a plain object`)
  const [symbol] = Object.getOwnPropertySymbols(source)
  if (symbol !== undefined) copying.refuse(`has the symbol key ${String(symbol)}`)
  // Key by key: a copy that was spread or assigned at once is slow to read the first time, once it is frozen.
  const copy: Container = {}
  for (const key of Object.getOwnPropertyNames(source)) {
    const descriptor = Object.getOwnPropertyDescriptor(source, key)
    if (descriptor === undefined || !('value' in descriptor)) copying.refuse('is an accessor', key)
    else if (!descriptor.enumerable) copying.refuse('is not enumerable', key)
    else {
      const value: unknown = kept(descriptor.value, copying, copy, key)
      put(copy, key, value)
    }
  }
  return copy
}

/** Whether it inherits from nothing, or from what inherits from nothing: another realm has an Object.prototype of its own. */
export function isPlainObject(source: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(source)
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null
}

/** A subclass has a prototype that is no array; Array.prototype is one, in every realm. */
export function isPlainArray(source: unknown[]): boolean {
  return Array.isArray(Object.getPrototypeOf(source))
}

/** Gives an object that is being copied its own property of that name. */
export function put(copy: Container, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(copy, key, { value, enumerable: true, writable: true })
  else copy[key] = value
}

function copyArray(source: unknown[], copying: Copying): unknown[] {
  if (!isPlainArray(source)) copying.refuse(`is ${named(source)}, not a plain array`)
  for (let index = 0; index < source.length; index++) {
    if (source[index] !== undefined) continue
    copying.refuse(Object.hasOwn(source, index) ? 'is undefined' : 'is a hole: an array must have no gaps', index)
  }
  if (!hasOnlyElements(source)) {
    const extra = Reflect.ownKeys(source).find((key) => key !== 'length' && !(typeof key === 'string' && isIndex(key, source.length)))
    if (extra !== undefined) copying.refuse(`is an array with the extra property ${String(extra)}`)
  }
  const copy = Array.prototype.slice.call(source)
  for (let index = 0; index < copy.length; index++) {
    const value: unknown = copy[index]
    if (typeof value !== 'string') copy[index] = kept(value, copying, copy as unknown as Container, index)
  }
  return copy
}

/** The value as the copy holds it, for now. */
function kept(value: unknown, copying: Copying, copy: Container, key: Key): unknown {
  if (typeof value === 'string') return value
  if (typeof value === 'object' && value !== null) copying.meet(copy, key)
  else if (Object.is(value, -0)) return 0
  else {
    const why = scalarFault(value)
    if (why !== undefined) copying.refuse(why, key)
  }
  return value
}

/** Of a longer array the keys are not listed: that would make a string of each index. To inspect it without elements costs little, at any length. */
const MAX_LISTED = 64
const WITHOUT_ELEMENTS = { maxArrayLength: 0, depth: 0, showHidden: true, customInspect: false, breakLength: Infinity } as const

/** May say no when it is so: then the keys are listed after all. */
export function hasOnlyElements(source: unknown[]): boolean {
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
