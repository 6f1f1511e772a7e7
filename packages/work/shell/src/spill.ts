import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '@loopguard/kit'
import { wholeLength } from './characters.ts'
import type { Truncation } from './types.ts'

/** The folder of the files of one service. Made with the first of them, removed with the service, or when the process exits. */
export class SpillFolder {
  private path: string | undefined
  private count = 0
  private readonly removeNow = (): void => this.remove()

  /** A fresh path. @throws what the system says when the folder cannot be made. */
  next(stream: string): string {
    if (this.path === undefined) {
      this.path = mkdtempSync(join(tmpdir(), 'loopguard-shell-'))
      process.on('exit', this.removeNow)
    }
    return join(this.path, `${++this.count}.${stream}`)
  }

  remove(): void {
    if (this.path === undefined) return
    process.off('exit', this.removeNow)
    rmSync(this.path, { recursive: true, force: true })
    this.path = undefined
  }
}

/**
 * The file that a stream goes to which is too long for a result. It is readable by this user alone. What cannot be written, a full disk
 * say, ends the file and is told in its truncation, and is no failure of the command.
 */
export class Spill {
  private readonly stream: Truncation['stream']
  private readonly limit: number
  private file: string | undefined
  private descriptor: number | undefined
  private size = 0
  private isCut = false
  private fault: string | undefined

  constructor(folder: SpillFolder, stream: Truncation['stream'], limit: number) {
    this.stream = stream
    this.limit = limit
    this.attempt(() => {
      this.file = folder.next(stream)
      this.descriptor = openSync(this.file, 'wx', 0o600)
    })
  }

  get truncation(): Truncation {
    const { stream, file, size, isCut, fault } = this
    if (fault !== undefined) return { stream, fault }
    return { stream, ...(file !== undefined && { file }), ...(isCut && { cutAt: size }) }
  }

  write(bytes: Buffer): void {
    const { descriptor } = this
    if (descriptor === undefined || this.isCut) return
    const room = this.limit - this.size
    const length = bytes.length > room ? wholeLength(bytes, room) : bytes.length
    this.isCut = length < bytes.length
    this.attempt(() => {
      for (let at = 0; at < length;) {
        const written = writeSync(descriptor, bytes, at, length - at)
        at += written
        this.size += written
      }
    })
    if (this.isCut) this.close()
  }

  close(): void {
    const { descriptor } = this
    this.descriptor = undefined
    if (descriptor !== undefined) this.attempt(() => closeSync(descriptor))
  }

  remove(): void {
    this.close()
    if (this.file !== undefined) rmSync(this.file, { force: true })
    this.file = undefined
  }

  private attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.fault ??= messageOf(error)
      // On a full disk the rest of it is in the way.
      this.remove()
    }
  }
}
