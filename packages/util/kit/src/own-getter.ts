import { Itself } from './itself.ts'

/** Keeps what a getter reads in a private field of the object, so that one getter serves all objects. */
class Read extends Itself {
  readonly #read: () => unknown

  constructor(object: object, read: () => unknown) {
    super(object)
    this.#read = read
  }

  static readonly property: PropertyDescriptor & ThisType<Read> = {
    enumerable: true,
    get() {
      return this.#read()
    },
  }
}

/**
 * Gives an object an own, enumerable property that `read` answers for each time; one such property an object. A getter in an object
 * literal is a new function each time, which makes a new hidden class for each object: ten times as slow, and garbage.
 */
export function ownGetter<T extends object, K extends string, V>(object: T, key: K, read: () => V): T & Readonly<Record<K, V>> {
  return Object.defineProperty(new Read(object, read), key, Read.property) as unknown as T & Readonly<Record<K, V>>
}
