import { type Container, copyContainer, type Key, nestedKeys, type Refuse, scalarFault } from './container.ts'
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

class Itself {
  constructor(container: object) {
    return container
  }
}

/**
 * The mark of deep-frozen JSON that need not be walked again: a private field, put on by a constructor that returns its
 * argument. It is invisible, and goes with what it marks; a WeakSet would cost twenty times as much.
 */
class Sealed extends Itself {
  // oxlint-disable-next-line no-unused-private-class-members -- read by `in`
  readonly #mark = true

  static has(container: object): boolean {
    return #mark in container
  }
}

function seal(container: object): void {
  Object.freeze(new Sealed(container))
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
  if (typeof value === 'object' && value !== null) return (Sealed.has(value) ? value : new Walk(name).copy(value)) as T
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
  const refuse = (() => (isSound = false)) as unknown as Refuse
  const nodes: Container[] = [value as Container]
  for (const node of nodes) for (const key of nestedKeys(node, refuse) ?? []) nodes.push(node[key] as Container)
  // The walk that copies knows the path of what it refuses.
  if (!isSound) return snapshot(value, name)
  for (const node of nodes) seal(node)
  return value
}

/** A copied container whose members at `nested` are still to be copied; linked towards the root. */
interface Frame {
  readonly copy: Container
  readonly nested: readonly Key[]
  next: number
  readonly parent: Frame | undefined
}

/** Depth first. A container is copied whole, then the containers in it give way to their own copies, then it is sealed. */
class Walk {
  private readonly name: string
  private readonly copies = new Map<object, Container>()
  private readonly refuse: Refuse = (why, key) => {
    throw new JsonError(this.pathTo(key), why)
  }
  private top: Frame | undefined

  constructor(name: string) {
    this.name = name
  }

  copy(root: object): object {
    const result = this.enter(root)
    for (let frame = this.top; frame !== undefined; frame = this.top) {
      const key = frame.nested[frame.next++]
      if (key !== undefined) {
        frame.copy[key] = this.enter(frame.copy[key] as object)
      } else {
        this.top = frame.parent
        seal(frame.copy)
      }
    }
    return result
  }

  private enter(source: object): object {
    if (Sealed.has(source)) return source
    const known = this.copies.get(source)
    // A copy that is not sealed yet holds the place where its source is met again.
    if (known !== undefined) return Sealed.has(known) ? known : this.refuse('is a cycle: it holds itself')
    const copy = copyContainer(source, this.refuse)
    this.copies.set(source, copy)
    const nested = nestedKeys(copy, this.refuse)
    if (nested === undefined) seal(copy)
    else this.top = { copy, nested, next: 0, parent: this.top }
    return copy
  }

  /** To the container that is being entered, or to a member of it. */
  private pathTo(key: Key | undefined): string {
    const steps: Key[] = key === undefined ? [] : [key]
    for (let frame = this.top; frame !== undefined; frame = frame.parent) steps.push(frame.nested[frame.next - 1] as Key)
    return this.name + render(steps.reverse())
  }
}

const PLAIN_KEY = /^[A-Za-z_$][\w$]*$/
const MAX_STEPS = 20

function render(steps: readonly Key[]): string {
  const shown = steps.map((key) => (typeof key === 'number' ? `[${key}]` : PLAIN_KEY.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`))
  const hidden = shown.length - MAX_STEPS
  if (hidden > 0) shown.splice(MAX_STEPS / 2, hidden, `…(${hidden} more)…`)
  return shown.join('')
}
