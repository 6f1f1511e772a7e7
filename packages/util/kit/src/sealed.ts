import { Itself } from './itself.ts'

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

/** Freezes a container whose members are sealed, or are no containers. */
export function seal(container: object): void {
  Object.freeze(new Sealed(container))
}

export function isSealed(container: object): boolean {
  return Sealed.has(container)
}
