import { fdatasync } from 'node:fs'
import { writeFailed } from './failures.ts'
import { LogFile, type OpenFile } from './log-file.ts'
import type { Lock } from './lock.ts'
import type { SyncQueue } from './sync-queue.ts'

/** A log whose `flush` forces it to the disk. Flushes that wait at the same time share one call of the system. */
export class DurableLogFile extends LogFile {
  released?: Promise<void>
  private readonly syncs: SyncQueue
  private readonly syncFolder: (() => Promise<void>) | undefined
  private isFolderDurable: boolean
  private durable: number
  /** The call of the system that runs, and how much of the file it will have made durable. */
  private running: Promise<void> | undefined
  private covered = 0
  private next: Promise<void> | undefined

  /** @param syncFolder - makes the name of a new file durable; left out for a file that was there. */
  constructor(file: OpenFile, lock: Lock, syncs: SyncQueue, syncFolder?: () => Promise<void>) {
    super(file, lock)
    this.syncs = syncs
    this.syncFolder = syncFolder
    this.isFolderDurable = syncFolder === undefined
    this.durable = file.size
  }

  flush(): Promise<void> {
    if (this.broken !== undefined) return Promise.reject(this.broken)
    if (this.running === undefined) return this.isBehind ? this.sync() : Promise.resolve()
    if (this.covered === this.size) return this.running
    // It was asked before the latest line: all who ask meanwhile wait for the next one.
    const again = (): Promise<void> => {
      this.next = undefined
      return this.sync()
    }
    return (this.next ??= this.running.then(again, again))
  }

  /** What is not durable yet is made so first; until then the log is held. */
  override close(): void {
    if (this.running === undefined && (!this.isBehind || this.broken !== undefined)) return super.close()
    const settled = this.flush().catch(() => {})
    this.released = settled.then(() => {
      super.close()
      if (this.broken !== undefined) throw this.broken
    })
  }

  private get isBehind(): boolean {
    return this.size > this.durable || (!this.isFolderDurable && this.size > 0)
  }

  private sync(): Promise<void> {
    if (this.broken !== undefined) return Promise.reject(this.broken)
    const size = (this.covered = this.size)
    const running = this.syncs
      .run(() => new Promise<void>((resolve, reject) => fdatasync(this.fd, (cause) => (cause === null ? resolve() : reject(cause)))))
      .then(async () => {
        if (!this.isFolderDurable) await this.syncFolder?.()
        this.isFolderDurable = true
        this.durable = size
      })
      // The system drops what it could not write, so that a second attempt would seem to succeed: there is none.
      .catch((cause: unknown) => {
        throw (this.broken ??= writeFailed(this.path, cause))
      })
      .finally(() => {
        if (this.running === running) this.running = undefined
      })
    this.running = running
    return running
  }
}
