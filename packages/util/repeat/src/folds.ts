import type { Fold, Reading } from './fold.ts'

/** Of the conversations whose last message is one and the same object, so many are remembered. */
const MAX_TWINS = 8

/** The folds under one configuration, each by its last message, with which it goes. */
export class Folds<M> {
  private readonly byLast = new WeakMap<object, Fold<M>[]>()

  /** Takes the longest fold out of which the list continues: what it becomes is kept in its place. */
  take(messages: readonly M[], read: (message: M) => Reading): Fold<M> | undefined {
    for (let index = messages.length - 1; index >= 0; index--) {
      const twins = this.byLast.get(messages[index] as object) ?? []
      const at = twins.findIndex((fold) => fold.read === read && fold.isBeginningOf(messages))
      if (at >= 0) return twins.splice(at, 1)[0]
    }
    return undefined
  }

  keep(fold: Fold<M>): void {
    const { last } = fold
    if (typeof last !== 'object' || last === null) return
    const twins = this.byLast.get(last) ?? []
    twins.unshift(fold)
    this.byLast.set(last, twins.slice(0, MAX_TWINS))
  }
}
