/** Waits that a signal ends, and all of them together an unloading. Each leaves neither timer nor listener. */
export class Waits {
  private readonly running = new Set<() => void>()
  private over = false

  /** `true` when the time has passed, `false` when the wait was ended before. */
  wait(delayMs: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted || this.over) return Promise.resolve(false)
    return new Promise((resolve) => {
      const settle = (passed: boolean): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        this.running.delete(end)
        resolve(passed)
      }
      const end = (): void => settle(false)
      const timer = setTimeout(settle, delayMs, true)
      signal.addEventListener('abort', end)
      this.running.add(end)
    })
  }

  /** Ends all waits; one that is asked for later is none. */
  end(): void {
    this.over = true
    for (const end of this.running) end()
  }
}
