/** A list of keys in canonical order. */
export interface Shape {
  readonly keys: readonly string[]
  /** Where it is remembered; computed from the keys. */
  readonly slot: number
}

/** A list of keys as objects really have it. */
interface Order {
  readonly keys: readonly string[]
  readonly shape: Shape
  /** Which value comes first, second … in canonical order; `undefined` when the keys are sorted as they are, or are many. */
  readonly places: readonly number[] | undefined
  /** What the object read after one of these looked like, the last time. */
  next: Order | undefined
}

const SLOTS = 64
/** Up to this many keys, sorting by insertion beats the built-in sort, and picking values by place beats reading them by key. */
const FEW = 16
const EMPTY: readonly string[] = []

/**
 * Reads objects into their values in the order of their sorted keys.
 *
 * The objects of one value mostly look like each other, so key lists are remembered: one that came before is neither sorted nor, see
 * `repeats`, written again. What is remembered is bounded, and affects speed alone.
 */
export class Shapes {
  /** Shape of the object read last. */
  shape: Shape = { keys: EMPTY, slot: 0 }
  /**
   * Whether that shape is also the one that was read last among those with its slot. It follows from the canonical order of what was
   * read, never from the order in which some object happens to have its keys: two objects that are equal as JSON read alike.
   */
  repeats = false
  private last: Order = { keys: EMPTY, shape: this.shape, places: undefined, next: undefined }
  private readonly orders: (Order | undefined)[] = []
  private readonly shapes: (Shape | undefined)[] = []
  /** `for … in` is much the fastest way to read an object, and right as long as nobody gives every object an enumerable property. */
  private readonly clean: boolean = Object.keys(Object.prototype).length === 0

  valuesOf(object: Readonly<Record<string, unknown>>): readonly unknown[] {
    let order = this.last.next
    let values = order !== undefined && this.clean ? valuesIf(order.keys, object) : undefined
    if (order === undefined || values === undefined) {
      const keys = Object.keys(object)
      values = []
      for (const key of keys) values.push(object[key])
      order = this.orderOf(keys)
      this.last.next = order
    }
    this.last = order
    const { shape, places } = order
    const earlier = this.shapes[shape.slot]
    this.repeats = earlier === shape || (earlier !== undefined && same(earlier.keys, shape.keys))
    this.shape = shape
    this.shapes[shape.slot] = shape
    if (places === undefined) return shape.keys === order.keys ? values : shape.keys.map((key) => object[key])
    const sorted: unknown[] = []
    for (const place of places) sorted.push(values[place])
    return sorted
  }

  private orderOf(keys: readonly string[]): Order {
    const slot = slotOf(keys)
    const known = this.orders[slot]
    if (known !== undefined && same(known.keys, keys)) return known
    return (this.orders[slot] = orderFor(keys))
  }
}

/** The values of `object`, if its keys are just these, in this order. */
function valuesIf(keys: readonly string[], object: Readonly<Record<string, unknown>>): unknown[] | undefined {
  const values: unknown[] = []
  let count = 0
  for (const key in object) {
    if (key !== keys[count++]) return undefined
    values.push(object[key])
  }
  return count === keys.length ? values : undefined
}

function slotOf(keys: readonly string[]): number {
  const first = keys[0]?.length ?? 0
  const last = keys[keys.length - 1]?.length ?? 0
  return (keys.length + first * 7 + last * 3) % SLOTS
}

function orderFor(keys: readonly string[]): Order {
  if (isSorted(keys)) return { keys, shape: shapeOf(keys), places: undefined, next: undefined }
  const places = keys.length > FEW ? undefined : placesOf(keys)
  const sorted = places === undefined ? keys.toSorted() : places.map((place) => keys[place] as string)
  return { keys, shape: shapeOf(sorted), places, next: undefined }
}

function shapeOf(keys: readonly string[]): Shape {
  return { keys, slot: slotOf(keys) }
}

/** The places of the keys in the order of the keys, by insertion. */
function placesOf(keys: readonly string[]): number[] {
  const places: number[] = []
  for (let place = 0; place < keys.length; place++) {
    const key = keys[place] as string
    let at = place
    while (at > 0 && key < (keys[places[at - 1] as number] as string)) {
      places[at] = places[at - 1] as number
      at--
    }
    places[at] = place
  }
  return places
}

function isSorted(keys: readonly string[]): boolean {
  for (let index = 1; index < keys.length; index++) {
    if ((keys[index] as string) < (keys[index - 1] as string)) return false
  }
  return true
}

function same(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}
