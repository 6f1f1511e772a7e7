import type { Context } from '@deepseek-ai/cordis'
import { type Bus, emitContained } from '@loopguard/cordis-internals'
import { HarnessError, messageOf, snapshot, show } from '@loopguard/kit'
import type { LlmRuntime, SessionId, UserMessage } from '@loopguard/llm'
import { type CancelCause, type InboxTarget, lastTurn, type Session } from '@loopguard/session'
import { carrierOf, type ToolRuntime } from '@loopguard/tools'
import { AgentScope } from './agent-scope.ts'
import { quietly } from './close-after.ts'
import type { Config } from './config.ts'
import { Driver } from './driver.ts'
import { checkBound } from './giving-up.ts'
import { Inbox } from './inbox.ts'
import { RequestBuilder } from './request.ts'
import { runTurn, type TurnParts } from './turn.ts'
import type { Agent, AgentOptions, AgentStatus, CancelOptions, DisposeOptions } from './types.ts'

const DISPOSED: CancelCause = Object.freeze({ kind: 'disposed' })
/** Another process has taken the session over. */
const LOST: CancelCause = Object.freeze({ kind: 'session-lost' })

/** What an agent is built from. */
export interface AgentParts {
  readonly id: SessionId
  readonly options: AgentOptions
  readonly session: Session
  readonly bus: Bus
  /** The loop's own context. */
  readonly loop: Context
  readonly llm: LlmRuntime
  readonly tools: ToolRuntime
  readonly config: Config
  /** Runs the whole disposal, in order. Called once. */
  end(agent: LoopAgent): Promise<void>
}

/** One agent: what its users call, over the inbox that queues and the driver that runs. */
export class LoopAgent implements Agent {
  readonly id: SessionId
  readonly options: AgentOptions
  readonly session: Session
  readonly inbox: Inbox
  private readonly parts: AgentParts
  private readonly driver: Driver
  private readonly scope: AgentScope
  private turn: TurnParts | undefined
  /** Nothing more is accepted. */
  private disposing = false
  private ending = false
  /** Whether what waits when the agent goes is left in its log, for the next one on it. */
  private keepInbox = false
  /** How long what was cancelled is waited for, when the canceller does not say. */
  private abandonAfterMs: number | undefined
  private readonly gone: Promise<void>
  private leave!: () => void

  constructor(parts: AgentParts) {
    const { id, options, session } = parts
    this.parts = parts
    this.scope = new AgentScope(parts.loop, this)
    this.id = id
    this.options = options
    this.session = session
    this.abandonAfterMs = parts.config.abandonAfterMs
    this.inbox = new Inbox(session)
    this.gone = new Promise((resolve) => (this.leave = resolve))
    session.lost?.addEventListener('abort', () => this.cancel(LOST, { keepInbox: true }), { once: true })
    this.driver = new Driver({
      id,
      inbox: this.inbox,
      runTurn: (signal, patience) => runTurn((this.turn ??= this.turnParts()), lastTurn(session) + 1, signal, patience),
      changed: (status) => this.emit('agent/status', { agent: this, status }),
    })
  }

  get ctx(): Context {
    return this.scope.ctx
  }

  get status(): AgentStatus {
    return this.driver.status
  }

  followup(message: UserMessage): void {
    this.send('next-turn', message)
    this.driver.wake()
  }

  steer(message: UserMessage): void {
    this.send('next-step', message)
    this.driver.wake()
  }

  inject(message: UserMessage): void {
    this.send('next-step', message)
  }

  cancel(cause: CancelCause = { kind: 'user' }, { keepInbox = false, abandonAfterMs = this.abandonAfterMs }: CancelOptions = {}): void {
    if (typeof cause?.kind !== 'string') {
      throw new HarnessError(`agent-loop: a cancel cause must be an object with a text \`kind\`, got ${show(cause)}`, 'BAD_CANCEL_CAUSE')
    }
    checkBound(abandonAfterMs)
    const reason = snapshot(cause, 'cause')
    // In this order, so that what a listener sends meanwhile is neither dropped nor left lying.
    this.driver.rest()
    if (!keepInbox) this.contain(() => this.inbox.discard())
    this.driver.abort(reason, abandonAfterMs)
  }

  whenIdle(): Promise<void> {
    return this.driver.whenIdle()
  }

  dispose({ keepInbox = false, abandonAfterMs = this.abandonAfterMs }: DisposeOptions = {}): Promise<void> {
    checkBound(abandonAfterMs)
    this.abandonAfterMs = abandonAfterMs
    this.keepInbox ||= keepInbox
    if (this.ending) this.driver.abort(DISPOSED, abandonAfterMs)
    else {
      this.ending = true
      void this.parts.end(this)
    }
    return this.gone
  }

  /** First part of the disposal: nothing more is accepted, what runs is cancelled and waited for. */
  async quiesce(): Promise<void> {
    this.disposing = true
    this.cancel(DISPOSED, { keepInbox: this.keepInbox })
    await this.whenIdle()
  }

  /** What was registered through its context goes. Nothing to wait for where nobody asked for one. */
  closeScope(): Promise<void> | undefined {
    return this.scope.close()
  }

  /** Gives the session back. A promise where that takes time. Never rejects. */
  closeSession(): Promise<void> | undefined {
    quietly(() => this.inbox.settle())
    this.contain(() => this.session.close())
    return this.session.released?.catch((error: unknown) => this.report(lastTurn(this.session), 0, error))
  }

  /** Last part of the disposal. */
  depart(): void {
    this.emit('agent/disposed', { agent: this })
    this.leave()
  }

  emit(name: string, event: object): void {
    emitContained(this.parts.bus, carrierOf(this), name, [Object.freeze(event)])
  }

  private turnParts(): TurnParts {
    const { session, bus, llm, tools, options, config } = this.parts
    return {
      agent: this,
      bus,
      llm,
      tools,
      session,
      maxParallel: config.maxParallelToolCalls,
      inbox: this.inbox,
      requests: new RequestBuilder(session, options),
      loggedIds: new Set(session.events.flatMap((event) => (event.type === 'user/message' ? [event.data.id] : []))),
      abortReason: () => ({ kind: 'aborted', reason: this.driver.cause }),
      report: (turn, step, error) => this.report(turn, step, error),
      claim: (startsTurn) => {
        this.driver.rest()
        return this.inbox.claim(startsTurn)
      },
      stopping: () => this.driver.rest(),
    }
  }

  private send(target: InboxTarget, message: UserMessage): void {
    if (this.disposing) throw new HarnessError(`agent "${this.id}" is disposed: it takes no more messages`, 'AGENT_DISPOSED')
    this.inbox.queue(target, message)
  }

  private report(turn: number, step: number, error: unknown): void {
    // A failed request is the provider's affair and stands in the log; a failure of the loop or the log does not.
    if (error instanceof Error) {
      quietly(() => this.parts.bus.root.logger('agent-loop').error(`agent "${this.id}", turn ${turn}: ${messageOf(error)}`, error))
    }
    this.emit('agent/error', { agent: this, turn, step, error })
  }

  private contain(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.report(lastTurn(this.session), 0, error)
    }
  }
}
