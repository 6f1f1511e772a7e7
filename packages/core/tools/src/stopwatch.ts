/** How long something ran, once. */
export class Stopwatch {
  private since: number | undefined
  private stoppedAfter: number | undefined

  start(): void {
    this.since = performance.now()
  }

  /** Again, or before the start, is a no-op. */
  stop(): void {
    this.stoppedAfter ??= this.ms
  }

  /** Milliseconds from start to stop, until now while it runs; `undefined` before the start. */
  get ms(): number | undefined {
    return this.stoppedAfter ?? (this.since === undefined ? undefined : performance.now() - this.since)
  }
}
