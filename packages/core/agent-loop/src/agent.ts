import type { Context } from '@deepseek-ai/cordis'
import {
  type Bus,
  emitContained,
  HarnessError,
  type LlmRuntime,
  messageOf,
  type SessionId,
  snapshot,
  type UserMessage,
} from '@loopguard/llm'
import { type CancelCause, type InboxTarget, lastTurn, type Session, type TurnEndReason } from '@loopguard/session'
import { carrierOf, type ToolRuntime } from '@loopguard/tools'
import { Inbox } from './inbox.ts'
import { RequestBuilder } from './request.ts'
import { runTurn, type TurnHost } from './turn.ts'
import type { Agent, AgentOptions, AgentStatus, CancelOptions } from './types.ts'

/** What an agent is built from. `scope` is its own context, made for it. */
export interface AgentParts {
  readonly id: SessionId
  readonly options: AgentOptions
  readonly session: Session
  readonly bus: Bus
  readonly llm: LlmRuntime
  readonly tools: ToolRuntime
  readonly maxParallel: number
}

/**
 * The driver of one agent. Idle until a message wakes it; then it runs turns, one after another, each under a signal of its own,
 * until nothing is left to do, a turn failed or was blocked, or it was cancelled.
 */
export class LoopAgent implements Agent {
  readonly id: SessionId
  readonly options: AgentOptions
  readonly session: Session
  readonly inbox: Inbox
  /** Set by whoever builds the agent, before anybody sees it. */
  ctx!: Context
  private readonly host: TurnHost
  private readonly bus: Bus
  private turn: number
  private controller = new AbortController()
  private cause: CancelCause | undefined
  /** A message has asked for work since the last claim, or since the driver was told to stop. */
  private due = false
  private driving: Promise<void> | undefined
  private unwind: (() => unknown) | undefined
  private disposing = false
  private readonly gone: Promise<void>
  private leave!: () => void

  constructor({ id, options, session, bus, llm, tools, maxParallel }: AgentParts) {
    this.id = id
    this.options = options
    this.session = session
    this.bus = bus
    this.inbox = new Inbox(session)
    this.turn = lastTurn(session)
    this.gone = new Promise((resolve) => (this.leave = resolve))
    this.host = {
      agent: this,
      bus,
      llm,
      tools,
      session,
      maxParallel,
      inbox: this.inbox,
      requests: new RequestBuilder(session, options),
      contextIds: new Set(),
      abortReason: (): TurnEndReason => ({ kind: 'aborted', reason: this.cause ?? { kind: 'user' } }),
      report: (turn, step, error) => this.report(turn, step, error),
      claim: (startsTurn) => {
        this.due = false
        return this.inbox.claim(startsTurn)
      },
      stopping: () => {
        this.due = false
      },
    }
  }

  get status(): AgentStatus {
    return this.driving === undefined ? 'idle' : 'running'
  }

  followup(message: UserMessage): void {
    this.send('next-turn', message, true)
  }

  steer(message: UserMessage): void {
    this.send('next-step', message, true)
  }

  inject(message: UserMessage): void {
    this.send('next-step', message, false)
  }

  cancel(cause: CancelCause = { kind: 'user' }, { keepInbox = false }: CancelOptions = {}): void {
    if (typeof cause?.kind !== 'string') {
      throw new HarnessError(`agent-loop: a cancel cause must be an object with a text \`kind\`, got ${String(cause)}`, 'BAD_CANCEL_CAUSE')
    }
    const reason = snapshot(cause, 'cause')
    this.due = false
    if (!keepInbox) this.contain(() => this.inbox.discard())
    if (this.driving === undefined || this.controller.signal.aborted) return
    this.cause = reason
    this.controller.abort(new HarnessError(`agent "${this.id}" was cancelled (${reason.kind})`, 'CANCELLED', { cause: reason }))
  }

  async whenIdle(): Promise<void> {
    while (this.driving !== undefined) await this.driving
  }

  dispose(): Promise<void> {
    void this.unwind?.()
    return this.gone
  }

  /** Arms the disposal: `unwind` runs the whole of it, in order, and settles when it is done. */
  own(unwind: () => unknown): void {
    this.unwind = unwind
  }

  /** First part of the disposal: nothing more is accepted, what runs is cancelled and waited for. */
  async quiesce(): Promise<void> {
    this.disposing = true
    this.cancel({ kind: 'disposed' })
    await this.whenIdle()
  }

  /** Last part of the disposal. */
  depart(): void {
    this.disposing = true
    this.contain(() => this.session.close())
    this.emit('agent/disposed', { agent: this })
    this.leave()
  }

  emit(name: string, event: object): void {
    emitContained(this.bus, carrierOf(this), name, [Object.freeze(event)])
  }

  private send(target: InboxTarget, message: UserMessage, wakes: boolean): void {
    if (this.disposing) throw new HarnessError(`agent "${this.id}" is disposed: it takes no more messages`, 'AGENT_DISPOSED')
    this.inbox.queue(target, message)
    if (!wakes) return
    this.due = true
    if (this.driving === undefined) this.wake()
  }

  private wake(): void {
    let idle!: () => void
    this.driving = new Promise((resolve) => (idle = resolve))
    // A fresh signal before anybody hears of the new status, so that a cancel from a listener is a cancel of this activity.
    this.controller = new AbortController()
    this.cause = undefined
    this.emit('agent/status', { agent: this, status: 'running' })
    void this.drive().then(() => {
      this.driving = undefined
      this.emit('agent/status', { agent: this, status: 'idle' })
      idle()
    })
  }

  /** Never rejects. */
  private async drive(): Promise<void> {
    // What the sender does in the same breath (more messages, a cancel) belongs before the first turn.
    await Promise.resolve()
    for (;;) {
      const { signal } = this.controller
      let stopped = false
      if (signal.aborted || !this.inbox.hasPending) this.due &&= signal.aborted
      else stopped = (await runTurn(this.host, ++this.turn, signal)) === 'stop'
      const goesOn = this.due || (!stopped && !signal.aborted && this.inbox.nextTurn.length > 0)
      if (!goesOn) return
      this.controller = new AbortController()
      this.cause = undefined
    }
  }

  private report(turn: number, step: number, error: unknown): void {
    // A failed request is the provider's affair and stands in the log; a failure of the loop or the log does not.
    if (error instanceof Error) this.bus.root.logger('agent-loop').error(`agent "${this.id}", turn ${turn}: ${messageOf(error)}`, error)
    this.emit('agent/error', { agent: this, turn, step, error })
  }

  private contain(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.report(this.turn, 0, error)
    }
  }
}
