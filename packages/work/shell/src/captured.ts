import { Characters } from './characters.ts'
import type { Spill } from './spill.ts'
import { Tail } from './tail.ts'
import type { OutputSlice, Truncation } from './types.ts'

/** What a command printed, on one stream or on more that share it: the end in memory and, once that is too short, all of it in a file. */
export class Captured {
  private readonly limit: number
  private readonly makeSpill: () => Spill
  private readonly tail: Tail
  private spill: Spill | undefined

  constructor(limit: number, makeSpill: () => Spill) {
    this.limit = limit
    this.makeSpill = makeSpill
    this.tail = new Tail(limit)
  }

  /** Takes what comes on a stream until it ends. Each stream has its own, so that none splits the characters of another. */
  input(): { readonly take: (chunk: Buffer) => void; readonly end: () => void } {
    const characters = new Characters()
    return { take: (chunk) => this.add(characters.take(chunk)), end: () => this.add(characters.end()) }
  }

  /** No more comes. */
  close(): void {
    this.spill?.close()
  }

  get text(): string {
    return this.tail.since(0).text
  }

  get truncation(): Truncation | undefined {
    return this.spill?.truncation
  }

  since(from: number): OutputSlice {
    const { text, cut } = this.tail.since(from)
    const { truncation } = this
    return { text, end: this.tail.total, ...(cut && truncation !== undefined && { truncated: truncation }) }
  }

  private add(bytes: Buffer): void {
    if (bytes.length === 0) return
    if (this.spill === undefined && this.tail.total + bytes.length > this.limit) {
      this.spill = this.makeSpill()
      this.spill.write(this.tail.bytes)
    }
    this.spill?.write(bytes)
    this.tail.add(bytes)
  }
}
