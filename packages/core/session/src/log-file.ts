import { closeSync, ftruncateSync, writeSync } from 'node:fs'
import type { HarnessError } from '@loopguard/kit'
import type { EventSink } from './backend.ts'
import type { SessionEvent } from './events.ts'
import { writeFailed } from './failures.ts'
import { encodeLine } from './line.ts'
import { removeLitter } from './litter.ts'
import type { Lock } from './lock.ts'

export interface OpenFile {
  readonly path: string
  /** Open for appending. */
  readonly fd: number
  /** How many bytes are committed; there is nothing after them. */
  readonly size: number
}

/** A log that is open for appending, and its lock. A failed write breaks it: it cuts off what it wrote of the line and takes no more. */
export class LogFile implements EventSink {
  protected readonly path: string
  protected readonly fd: number
  protected size: number
  protected broken: HarnessError | undefined
  private readonly lock: Lock

  constructor({ path, fd, size }: OpenFile, lock: Lock) {
    this.path = path
    this.fd = fd
    this.lock = lock
    this.size = size
  }

  get location(): string {
    return this.path
  }

  encode(event: SessionEvent): Uint8Array {
    if (this.broken !== undefined) throw this.broken
    return encodeLine(event)
  }

  write(line: Uint8Array): void {
    if (this.broken !== undefined) throw this.broken
    try {
      // The system may take a part, when the disk is nearly full for one.
      for (let done = 0; done < line.length;) done += writeSync(this.fd, line, done)
      this.size += line.length
    } catch (cause) {
      this.broken = writeFailed(this.path, cause)
      this.cutBack()
      throw this.broken
    }
  }

  /**
   * A log that holds nothing leaves no file, unless the system refuses to remove it: an empty file is no session, its id stays free.
   * @throws HarnessError `SESSION_WRITE_FAILED` when the system tells only now that it lost something; all is released then too.
   */
  close(): void {
    try {
      closeSync(this.fd)
    } catch (cause) {
      if (this.broken === undefined) throw writeFailed(this.path, cause)
    } finally {
      // Under the lock: after it, the file could be another's.
      if (this.size === 0) removeLitter(this.path)
      this.lock.release()
    }
  }

  /** Where this fails too the half line stays; it has no line break, so the next load drops it. */
  private cutBack(): void {
    try {
      ftruncateSync(this.fd, this.size)
    } catch {}
  }
}
