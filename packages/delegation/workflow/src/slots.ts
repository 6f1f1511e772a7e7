/** So many at once; the others wait, first come, first served. */
export class Slots {
  private free: number
  private readonly waiting = new Set<() => void>()

  constructor(count: number) {
    this.free = count
  }

  /** Settles when there is a slot, which is the caller's until `release`. Rejects with the signal's reason; then none is taken. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.free > 0) {
      this.free--
      return
    }
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.waiting.delete(enter)
        reject(signal.reason as Error)
      }
      const enter = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      signal.addEventListener('abort', leave, { once: true })
      this.waiting.add(enter)
    })
  }

  release(): void {
    const [next] = this.waiting
    if (next === undefined) this.free++
    else {
      this.waiting.delete(next)
      next()
    }
  }
}
