import { hopIfDue } from '@loopguard/kit'

interface Entry<T> {
  /** Makes what is to be sent, when its turn has come. */
  readonly make: () => Iterable<T>
  /** Called in its place when the box is closed before. */
  readonly dropped: () => void
  /** What it sets going is sent before the next entry. */
  readonly isMark?: true
}

/**
 * What waits for a client, in order. It is made when its turn comes, so that what waits is no copy of the log: a client that does not
 * read holds up nothing, and costs a reference for each event.
 */
export class Outbox<T> {
  private readonly entries: Entry<T>[] = []
  private readonly send: (item: T) => Promise<void>
  private readonly failed: (error: unknown) => void
  private isPumping = false
  private isClosed = false

  /**
   * @param send - settles when the next item may follow. A rejection closes the box.
   * @param failed - is told of an entry that threw; the others follow.
   */
  constructor(send: (item: T) => Promise<void>, failed: (error: unknown) => void) {
    this.send = send
    this.failed = failed
  }

  /** @param dropped - called in the place of `make` when the box is closed before. */
  push(make: Entry<T>['make'], dropped: Entry<T>['dropped'] = () => {}): void {
    this.add({ make, dropped })
  }

  /** Calls `reached` when all that waits now is sent, or never will be. An answer that it gives goes out before all that comes. */
  mark(reached: () => void): void {
    this.add({ make: () => (reached(), []), dropped: reached, isMark: true })
  }

  /** Drops what waits, and all that comes. */
  close(): void {
    this.isClosed = true
    for (const { dropped } of this.entries.splice(0)) dropped()
  }

  private add(entry: Entry<T>): void {
    if (this.isClosed) return entry.dropped()
    this.entries.push(entry)
    if (!this.isPumping) void this.pump()
  }

  private async pump(): Promise<void> {
    this.isPumping = true
    // Not within the event that pushed it.
    await Promise.resolve()
    for (let entry = this.entries.shift(); entry !== undefined; entry = this.entries.shift()) {
      try {
        for (const item of entry.make()) {
          await this.sendNow(item)
          if (this.isClosed) break
          const hop = hopIfDue()
          if (hop !== undefined) await hop
        }
        if (entry.isMark === true) await new Promise((resolve) => setImmediate(resolve))
      } catch (error) {
        this.failed(error)
      }
    }
    this.isPumping = false
  }

  private async sendNow(item: T): Promise<void> {
    try {
      await this.send(item)
    } catch {
      this.close()
    }
  }
}
