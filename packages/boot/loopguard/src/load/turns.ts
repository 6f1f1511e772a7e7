const HOLD_MS = 10

/**
 * Lets the members of lists have their turn one after another, list after list in the order in which they were begun. In between,
 * timers and signals run: thousands of rows that wait for nothing would not let them.
 */
export class Turns {
  private before: Promise<unknown> = Promise.resolve()
  private rested = performance.now()

  /** Begins a list. Members of later lists wait until it is closed, and all of its own members had their turn. */
  begin(): TurnList {
    const list = new TurnList(this.before, () => this.rest())
    this.before = list.over
    return list
  }

  /** Waits for a round of the event loop, if the last one was a while ago. */
  rest(): Promise<void> | undefined {
    if (performance.now() - this.rested < HOLD_MS) return undefined
    return new Promise((resolve) => {
      setImmediate(() => {
        this.rested = performance.now()
        resolve()
      })
    })
  }
}

export class TurnList {
  /** Settles when the list is closed and the last of its members had its turn. */
  readonly over: Promise<void>
  private last: Promise<unknown>
  private readonly rest: () => Promise<void> | undefined
  private settle: () => void = () => {}

  constructor(before: Promise<unknown>, rest: () => Promise<void> | undefined) {
    this.last = before
    this.rest = rest
    this.over = new Promise((resolve) => (this.settle = resolve))
  }

  /** The same outcome, not before all earlier members had their turn. */
  take<T>(work: Promise<T>): Promise<T> {
    // It may fail before its turn comes.
    work.catch(() => {})
    const inTurn = this.last.then(() => work)
    this.last = inTurn.then(this.rest, this.rest)
    return inTurn
  }

  close(): void {
    void this.last.then(this.settle)
  }
}
