import { HarnessError } from '@loopguard/kit'
import type { SessionId } from '@loopguard/llm'
import { encodeLine, type EventSink, type SessionEvent, sessionLost } from '@loopguard/session'
import { type Entry, entryOf } from './entry.ts'
import { writeFailed } from './faults.ts'

/** What a sink needs of its store. */
export interface SinkParts {
  /** For messages. */
  readonly shown: string
  /** How long a log that is being given back waits for a database that is away, in milliseconds. */
  readonly closeWithinMs: number
  /** Whether nobody else may take sessions of this process over now. */
  readonly isHeld: () => boolean
  /** There is something to write. */
  readonly ready: (sink: PostgresSink) => void
  /** Gives the log back. */
  readonly release: (sink: PostgresSink) => Promise<void>
}

/** What of one session goes into one statement. */
export interface Chunk {
  readonly sink: PostgresSink
  readonly epoch: number
  readonly first: number
  readonly entries: readonly Entry[]
}

interface Waiter {
  readonly upTo: number
  readonly resolve: () => void
  readonly reject: (why: HarnessError) => void
}

/** One log that this process holds: lines wait here until a statement takes them, barriers until they are durable. */
export class PostgresSink implements EventSink {
  readonly id: SessionId
  released?: Promise<void>
  /** Known once the row is ours. */
  epoch?: number
  /** Why nothing more gets into the log. */
  broken: HarnessError | undefined
  private readonly parts: SinkParts
  private readonly entries = new WeakMap<Uint8Array, Entry>()
  private pending: Entry[] = []
  private accepted: number
  private durable: number
  private isWriting = false
  private waiters: Waiter[] = []
  private readonly owner = new AbortController()

  constructor(id: SessionId, parts: SinkParts, held?: { readonly epoch: number; readonly next: number }) {
    this.id = id
    this.parts = parts
    this.accepted = this.durable = held?.next ?? 0
    if (held !== undefined) this.epoch = held.epoch
  }

  get lost(): AbortSignal {
    return this.owner.signal
  }

  encode(event: SessionEvent): Uint8Array {
    if (this.broken !== undefined) throw this.broken
    const line = encodeLine(event)
    this.entries.set(line, entryOf(event, line))
    return line
  }

  write(line: Uint8Array): void {
    if (this.broken !== undefined) throw this.broken
    const entry = this.entries.get(line)
    if (entry === undefined) throw new HarnessError(`session "${this.id}": a line that encode has not made`, 'SESSION_WRITE_FAILED')
    this.pending.push(entry)
    this.accepted++
    if (this.isReady) this.parts.ready(this)
  }

  flush(): Promise<void> {
    if (this.broken !== undefined) return Promise.reject(this.broken)
    if (this.isPassed(this.accepted)) return Promise.resolve()
    return new Promise((resolve, reject) => this.waiters.push({ upTo: this.accepted, resolve, reject }))
  }

  close(): void {
    const tooLate = setTimeout(
      () => this.fail(writeFailed(this.id, this.parts.shown, `${this.parts.shown} cannot be reached`)),
      this.parts.closeWithinMs,
    )
    const flushed = this.flush().finally(() => clearTimeout(tooLate))
    this.released = flushed.then(
      () => this.parts.release(this),
      async (why: HarnessError) => {
        await this.parts.release(this)
        // Of a loss `lost` has told; it is the next holder's log.
        if (!this.lost.aborted) throw why
      },
    )
    this.released.catch(() => {})
  }

  /** The row is ours. */
  opened(epoch: number): void {
    this.epoch = epoch
    if (this.isReady) this.parts.ready(this)
    this.settle()
  }

  /** What waits, as far as it fits: at least one line. Nothing more is taken until it has been settled. */
  take(maxChars: number): Chunk | undefined {
    const { epoch, durable: first } = this
    if (!this.isReady || epoch === undefined) return undefined
    let chars = 0
    let count = 0
    while (count < this.pending.length && (count === 0 || chars < maxChars)) chars += this.pending[count++]?.text.length ?? 0
    this.isWriting = true
    return { sink: this, epoch, first, entries: this.pending.splice(0, count) }
  }

  /** A chunk is durable. */
  written({ entries }: Chunk): void {
    this.isWriting = false
    this.durable += entries.length
    this.settle()
    if (this.isReady) this.parts.ready(this)
  }

  /** Lets those barriers go on that nothing stands against any more. */
  settle(): void {
    while (this.waiters[0] !== undefined && this.isPassed(this.waiters[0].upTo)) this.waiters.shift()?.resolve()
  }

  fail(why: HarnessError): void {
    if (this.broken !== undefined) return
    this.broken = why
    this.pending = []
    for (const { reject } of this.waiters.splice(0)) reject(why)
  }

  lose(): void {
    const why = sessionLost(this.id)
    this.fail(why)
    if (this.broken === why) this.owner.abort(why)
  }

  private get isReady(): boolean {
    return this.pending.length > 0 && !this.isWriting && this.epoch !== undefined && this.broken === undefined
  }

  private isPassed(upTo: number): boolean {
    return this.epoch !== undefined && this.durable >= upTo && this.parts.isHeld()
  }
}
