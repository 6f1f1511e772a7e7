import { setMaxListeners } from 'node:events'
import type { CancelCause } from '@loopguard/session'
import { HarnessError } from '@loopguard/kit'
import type { Inbox } from './inbox.ts'
import { Patience } from './patience.ts'
import type { AgentStatus } from './types.ts'

/** What a driver needs of its agent. None of it may throw or reject. */
export interface DriverParts {
  readonly id: string
  readonly inbox: Inbox
  /** Runs one turn. `stop` says that the next one must wait for a message that is sent from then on. */
  runTurn(signal: AbortSignal, patience: Patience): Promise<'go' | 'stop'>
  /** Told of every change of status, one after the other, also when telling of one leads to the next. */
  changed(status: AgentStatus): void
}

/**
 * Runs turns, one after another, each under a signal of its own, until nothing is left to do, a turn failed or was blocked, or the
 * activity was cancelled.
 */
export class Driver {
  private readonly parts: DriverParts
  // Each activity has its own, from before anybody hears of it.
  private controller!: AbortController
  private patience!: Patience
  private abortCause: CancelCause | undefined
  /** A message has asked for work since the last claim, or since the driver was told to stop. */
  private due = false
  private activity: Promise<void> | undefined
  private readonly news: AgentStatus[] = []

  constructor(parts: DriverParts) {
    this.parts = parts
  }

  get status(): AgentStatus {
    return this.activity === undefined ? 'idle' : 'running'
  }

  /** Why the activity was aborted. */
  get cause(): CancelCause {
    return this.abortCause ?? { kind: 'user' }
  }

  /** Runs a turn, or another one, when there is something to run it for. */
  wake(): void {
    this.due = true
    if (this.activity !== undefined) return
    // A fresh signal before anybody hears of the new status, so that a cancel from a listener is a cancel of this activity.
    this.renew()
    this.activity = this.run()
    this.announce('running')
  }

  /** Wakes so far are answered, or are not to be. */
  rest(): void {
    this.due = false
  }

  /**
   * Aborts what runs; the first cause stays. Who is due then gets a turn once that has converged, or once it has been waited for as
   * long as `abandonAfterMs` says.
   */
  abort(cause: CancelCause, abandonAfterMs: number | undefined): void {
    if (this.activity === undefined) return
    this.patience.limit(abandonAfterMs)
    if (this.controller.signal.aborted) return
    this.abortCause = cause
    this.controller.abort(new HarnessError(`agent "${this.parts.id}" was cancelled (${cause.kind})`, 'CANCELLED', { cause }))
  }

  async whenIdle(): Promise<void> {
    while (this.activity !== undefined) await this.activity
  }

  private async run(): Promise<void> {
    const { inbox } = this.parts
    // What the sender does in the same breath (more messages, a cancel) belongs before the first turn.
    await Promise.resolve()
    for (;;) {
      const { patience, controller } = this
      const { signal } = controller
      let stopped = false
      if (!signal.aborted && inbox.hasPending) stopped = (await this.parts.runTurn(signal, patience)) === 'stop'
      else if (!signal.aborted) this.due = false
      patience.end()
      if (!this.due && (stopped || signal.aborted || inbox.nextTurn.length === 0)) break
      this.renew()
    }
    // Nothing is awaited since the last look at what is due: a message that comes later finds the driver idle.
    this.activity = undefined
    this.announce('idle')
  }

  private renew(): void {
    this.controller = new AbortController()
    // Of each body that overlaps, a listener or several: that is no leak.
    setMaxListeners(0, this.controller.signal)
    this.patience = new Patience()
    this.abortCause = undefined
  }

  private announce(status: AgentStatus): void {
    if (this.news.push(status) > 1) return
    for (const each of this.news) this.parts.changed(each)
    this.news.length = 0
  }
}
