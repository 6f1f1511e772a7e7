import { HarnessError } from '@loopguard/kit'
import type { SessionId } from '@loopguard/llm'
import {
  decodeLine,
  encodeLine,
  type EventSink,
  type SessionBackend,
  type SessionEvent,
  sessionLost,
  type StoredSession,
} from '@loopguard/session'

/**
 * What goes wrong at an event: it is not accepted; the flush that covers it rejects, or waits for {@link FaultyBackend.goOn}; or
 * another process takes the log over as soon as it is accepted.
 */
export type BackendFault = 'fail-write' | 'fail-flush' | 'stall' | 'take-over'

export interface FaultyBackendOptions {
  /** Asked once for each event that is to be written. */
  readonly at?: (event: SessionEvent, id: SessionId) => BackendFault | undefined
}

/** A store in memory, in place of a disk or a database, whose faults a test chooses. What was flushed survives; the rest may not. */
export class FaultyBackend implements SessionBackend {
  private readonly at: (event: SessionEvent, id: SessionId) => BackendFault | undefined
  private readonly logs = new Map<SessionId, Log>()
  private stalled: (() => void)[] = []

  constructor({ at = () => undefined }: FaultyBackendOptions = {}) {
    this.at = at
  }

  create(id: SessionId): EventSink {
    const log = this.logs.get(id)
    if (log?.holder !== undefined) throw new HarnessError(`session "${id}" is open elsewhere`, 'SESSION_OPEN')
    if (log !== undefined && log.lines.length > 0) throw new HarnessError(`session "${id}" exists already`, 'SESSION_EXISTS')
    const made: Log = { lines: [], holder: undefined, epoch: 0, updatedAt: Date.now() }
    this.logs.set(id, made)
    return this.hold(id, made)
  }

  load(id: SessionId): Promise<{ readonly events: SessionEvent[]; readonly log: EventSink }> {
    return later(() => {
      const log = this.find(id)
      if (log.holder !== undefined) throw new HarnessError(`session "${id}" is open elsewhere`, 'SESSION_OPEN')
      return { events: eventsOf(log, id), log: this.hold(id, log) }
    })
  }

  read(id: SessionId): Promise<SessionEvent[]> {
    return later(() => eventsOf(this.find(id), id))
  }

  stored(): Promise<readonly StoredSession[]> {
    return later(() => {
      const kept = [...this.logs].filter(([, { lines }]) => lines.length > 0)
      return kept.map(([id, { updatedAt }]) => ({ id, updatedAt })).sort((a, b) => b.updatedAt - a.updatedAt)
    })
  }

  /** Another process takes the log over. What was not flushed is gone. */
  takeOver(id: SessionId): void {
    this.logs.get(id)?.holder?.lose()
  }

  /** The power fails: all that was not flushed is gone, and no sink of before does anything any more. */
  powerFailure(): void {
    for (const { holder } of this.logs.values()) holder?.die()
    this.goOn()
  }

  /** Flushes that were stalled go on. */
  goOn(): void {
    for (const proceed of this.stalled.splice(0)) proceed()
  }

  private find(id: SessionId): Log {
    const log = this.logs.get(id)
    if (log === undefined || log.lines.length === 0) throw new HarnessError(`there is no session "${id}"`, 'SESSION_NOT_FOUND')
    return log
  }

  private hold(id: SessionId, log: Log): EventSink {
    log.epoch++
    return (log.holder = new FaultySink(id, log, this.at, (proceed) => this.stalled.push(proceed)))
  }
}

interface Log {
  /** What is durable. */
  lines: Uint8Array[]
  holder: FaultySink | undefined
  epoch: number
  updatedAt: number
}

class FaultySink implements EventSink {
  readonly epoch: number
  released?: Promise<void>
  private readonly id: SessionId
  private readonly log: Log
  private readonly at: (event: SessionEvent, id: SessionId) => BackendFault | undefined
  private readonly stall: (proceed: () => void) => void
  private readonly owner = new AbortController()
  private accepted: { readonly line: Uint8Array; readonly fault: BackendFault | undefined }[] = []
  private encoded: { readonly line: Uint8Array; readonly event: SessionEvent } | undefined
  private broken: HarnessError | undefined
  private flushing: Promise<void> = Promise.resolve()

  constructor(id: SessionId, log: Log, at: FaultySink['at'], stall: FaultySink['stall']) {
    this.id = id
    this.log = log
    this.at = at
    this.stall = stall
    this.epoch = log.epoch
  }

  get lost(): AbortSignal {
    return this.owner.signal
  }

  encode(event: SessionEvent): Uint8Array {
    if (this.broken !== undefined) throw this.broken
    const line = encodeLine(event)
    this.encoded = { line, event }
    return line
  }

  write(line: Uint8Array): void {
    if (this.broken !== undefined) throw this.broken
    const fault = this.encoded?.line === line ? this.at(this.encoded.event, this.id) : undefined
    if (fault === 'fail-write') throw (this.broken = this.writeFailed())
    this.accepted.push({ line, fault })
    if (fault === 'take-over') this.lose()
  }

  /** One after the other, each for what was accepted when it was asked. */
  flush(): Promise<void> {
    const upTo = this.log.lines.length + this.accepted.length
    return (this.flushing = this.flushing.then(() => this.persist(upTo)))
  }

  close(): void {
    this.released = this.flush().then(
      () => this.free(),
      () => this.free(),
    )
    this.flushing.catch(() => {})
  }

  lose(): void {
    this.broken ??= sessionLost(this.id)
    this.accepted = []
    this.free()
    this.owner.abort(this.broken)
  }

  die(): void {
    this.broken ??= this.writeFailed()
    this.accepted = []
    this.free()
  }

  private async persist(upTo: number): Promise<void> {
    while (this.broken === undefined && this.log.lines.length < upTo) {
      const next = this.accepted[0]
      if (next === undefined) break
      if (next.fault === 'stall') await new Promise<void>((proceed) => this.stall(proceed))
      else await Promise.resolve()
      if (next.fault === 'fail-flush') this.broken ??= this.writeFailed()
      if (this.broken !== undefined || this.accepted[0] !== next) break
      this.accepted.shift()
      this.log.lines.push(next.line)
      this.log.updatedAt = Date.now()
    }
    if (this.broken !== undefined) throw this.broken
  }

  private free(): void {
    if (this.log.holder === this) this.log.holder = undefined
  }

  private writeFailed(): HarnessError {
    return new HarnessError(`session "${this.id}" could not be written: a fault that the test chose`, 'SESSION_WRITE_FAILED')
  }
}

function eventsOf({ lines }: Log, id: SessionId): SessionEvent[] {
  return lines.map((line, seq) => decodeLine(line.subarray(0, -1), seq, id))
}

/** Its answer, or what it throws, as a promise. */
async function later<T>(work: () => T): Promise<T> {
  await Promise.resolve()
  return work()
}
