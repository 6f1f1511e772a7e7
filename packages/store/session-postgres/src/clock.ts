/**
 * Milliseconds that have passed, also while the process was stopped and while the machine slept: the monotonic clock of Linux stands
 * still in the latter, and the wall clock may be set back.
 */
export class Stopwatch {
  private readonly monotonic = performance.now()
  private readonly wall = Date.now()

  get elapsedMs(): number {
    return Math.max(performance.now() - this.monotonic, Date.now() - this.wall)
  }
}
