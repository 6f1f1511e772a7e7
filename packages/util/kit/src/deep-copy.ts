import { type Container, copyContainer, type Key } from './container.ts'
import { isSealed, seal } from './sealed.ts'

/**
 * A copy of a value, made breadth first: each container is copied once, with its members in their places, and those that are containers
 * give way to their own copies later. What is sealed is its own copy. Everything is sealed at the end.
 */
export class DeepCopy {
  private readonly fail: (why: string, path: readonly Key[]) => never
  private readonly sources = new Set<object>()
  /** Of the sources, in their order. */
  private readonly copies: Container[] = []
  /** The copies by their sources: made when a container is met again, since to look each one up costs more than to note it. */
  private known: Map<object, Container> | undefined
  // A place where a container stands: in which copy, at which key, and in which place that copy stands itself.
  private readonly holders: Container[] = []
  private readonly keys: Key[] = []
  private readonly outer: number[] = []
  /** The place whose container is being copied; the root has none. */
  private at = -1

  /** `fail` gets what is wrong, and the path to it from the root. */
  constructor(fail: (why: string, path: readonly Key[]) => never) {
    this.fail = fail
  }

  of(root: object): object {
    const copy = this.copyOf(root)
    const { holders, keys } = this
    for (let at = 0; at < holders.length; at++) {
      this.at = at
      const holder = holders[at] as Container
      const key = keys[at] as Key
      holder[key] = this.copyOf(holder[key] as object)
    }
    // Without a second place for one container there is no way back to it.
    if (this.known !== undefined) this.refuseCycles(copy as Container)
    for (const container of this.copies) seal(container)
    return copy
  }

  /** A member of a copy is a container, whose own copy is due. */
  meet(holder: Container, key: Key): void {
    this.holders.push(holder)
    this.keys.push(key)
    this.outer.push(this.at)
  }

  /** What stands at `key` of the container that is being copied, or that container, cannot be kept. */
  refuse(why: string, key?: Key): never {
    const path: Key[] = key === undefined ? [] : [key]
    for (let at = this.at; at >= 0; at = this.outer[at] as number) path.push(this.keys[at] as Key)
    return this.fail(why, path.reverse())
  }

  private copyOf(source: object): object {
    if (isSealed(source)) return source
    const { sources, copies } = this
    const { size } = sources
    if (sources.add(source).size === size) return this.copyAgain(source)
    const copy = copyContainer(source, this)
    copies.push(copy)
    this.known?.set(source, copy)
    return copy
  }

  private copyAgain(source: object): Container {
    const { sources, copies } = this
    this.known ??= new Map(Array.from(sources, (each, index) => [each, copies[index] as Container]))
    return this.known.get(source) as Container
  }

  /** Depth first; what has been left holds no cycle. */
  private refuseCycles(root: Container): void {
    const nested = Map.groupBy(this.keys.entries(), ([place]) => this.holders[place] as Container)
    const entered = new Set<Container>()
    const left = new Set<Container>()
    const way: { readonly container: Container; readonly places: readonly (readonly [number, Key])[]; next: number }[] = []
    const enter = (container: Container): void => {
      if (left.has(container)) return
      if (entered.has(container)) {
        this.fail(
          'is a cycle: it holds itself',
          way.map(({ places, next }) => places[next - 1]![1]),
        )
      }
      entered.add(container)
      way.push({ container, places: nested.get(container) ?? [], next: 0 })
    }
    enter(root)
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const place = top.places[top.next++]
      if (place !== undefined) {
        enter(top.container[place[1]] as Container)
        continue
      }
      way.pop()
      left.add(top.container)
    }
  }
}
