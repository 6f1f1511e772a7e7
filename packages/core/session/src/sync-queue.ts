/**
 * How many calls wait for the disk at once. Each holds one of the four threads that all of Node's file work shares, and a file
 * system writes those that overlap together.
 */
const MAX_RUNNING = 2

/** The calls of one directory that force something to the disk, in the order in which they were asked for. */
export class SyncQueue {
  private running = 0
  private readonly waiting: (() => void)[] = []

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running === MAX_RUNNING) await new Promise<void>((resolve) => this.waiting.push(resolve))
    else this.running++
    try {
      return await work()
    } finally {
      const next = this.waiting.shift()
      // Its place is handed on, so that a later caller cannot slip in between.
      if (next === undefined) this.running--
      else next()
    }
  }
}
