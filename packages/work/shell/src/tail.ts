import { characterStart } from './characters.ts'

/** The last `limit` bytes of a stream, in memory of at most twice that. */
export class Tail {
  private readonly limit: number
  private buffer = Buffer.alloc(0)
  private used = 0
  private count = 0

  constructor(limit: number) {
    this.limit = limit
  }

  /** How many bytes have come. */
  get total(): number {
    return this.count
  }

  add(bytes: Buffer): void {
    this.count += bytes.length
    const added = bytes.length > this.limit ? bytes.subarray(bytes.length - this.limit) : bytes
    this.makeRoom(added.length)
    added.copy(this.buffer, this.used)
    this.used += added.length
  }

  /** The text since `from`, as far as it is still there. `cut` says that its beginning is not. */
  since(from: number): { readonly text: string; readonly cut: boolean } {
    const kept = Math.min(this.used, this.limit)
    const wanted = this.count - from
    const cut = wanted > kept
    const start = this.used - Math.min(wanted, kept)
    const bytes = this.buffer.subarray(0, this.used)
    return { text: bytes.toString('utf8', cut ? characterStart(bytes, start) : start), cut }
  }

  /** All bytes so far; only while there are no more than the limit. */
  get bytes(): Buffer {
    return this.buffer.subarray(0, this.used)
  }

  private makeRoom(length: number): void {
    if (this.used + length <= this.buffer.length) return
    const keep = Math.min(this.used, this.limit)
    const wanted = Math.min(Math.max(2 * (keep + length), 4096), 2 * this.limit)
    const target = wanted > this.buffer.length ? Buffer.allocUnsafeSlow(wanted) : this.buffer
    this.buffer.copy(target, 0, this.used - keep, this.used)
    this.buffer = target
    this.used = keep
  }
}
