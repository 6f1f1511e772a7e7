/** How long a cancelled activity is waited for: for ever, unless somebody says otherwise. */
export class Patience {
  private over = false
  private timer: { readonly handle: NodeJS.Timeout; readonly due: number } | undefined
  private readonly waiting = new Set<(afterMs: number) => void>()

  get isOver(): boolean {
    return this.over
  }

  /** Ends it `ms` from now; of several bounds the one that is over first counts. `undefined` and `Infinity` are none. */
  limit(ms: number | undefined): void {
    if (ms === undefined || ms === Infinity || this.over) return
    const due = performance.now() + ms
    if (this.timer !== undefined && this.timer.due <= due) return
    clearTimeout(this.timer?.handle)
    this.timer = { due, handle: setTimeout(() => this.lose(ms), ms) }
  }

  /** Calls `giveUp`, once, with the bound that has passed. Returns how to call that off. */
  whenOver(giveUp: (afterMs: number) => void): () => void {
    this.waiting.add(giveUp)
    return () => void this.waiting.delete(giveUp)
  }

  /** What `work` comes to, or, if patience is over before, what `giveUp` says. A race: docs/decisions/no-race.md says why here. */
  within<T>(work: Promise<T>, giveUp: (afterMs: number) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const lost = (afterMs: number): void => resolve(giveUp(afterMs))
      this.waiting.add(lost)
      work.then(
        (value) => {
          this.waiting.delete(lost)
          resolve(value)
        },
        (error: unknown) => {
          this.waiting.delete(lost)
          reject(error)
        },
      )
    })
  }

  /** Nothing is waited for any more. Leaves no timer. */
  end(): void {
    clearTimeout(this.timer?.handle)
    this.timer = undefined
  }

  private lose(ms: number): void {
    this.timer = undefined
    this.over = true
    for (const giveUp of this.waiting) {
      this.waiting.delete(giveUp)
      giveUp(ms)
    }
  }
}
