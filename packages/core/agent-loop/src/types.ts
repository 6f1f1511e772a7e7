import type { Context } from '@deepseek-ai/cordis'
import type { LlmFailure, SessionId, StreamChunk, UserMessage } from '@loopguard/llm'
import type { CancelCause, Session } from '@loopguard/session'
import type { ToolAgent } from '@loopguard/tools'

/** What an agent is made with. Kept as given, and open by declaration merging. */
export interface AgentOptions {
  readonly provider: string
  readonly model: string
  readonly system?: string
  readonly maxTokens?: number
  /** Absolute: the folder in which it works, for tools that ask. Default: that of the process, or what a tool is configured with. */
  readonly cwd?: string
}

export type AgentStatus = 'idle' | 'running'

/** The queues of an agent, to look at. Both are live views. */
export interface InboxView {
  /** Claimed by the next step. */
  readonly nextStep: readonly UserMessage[]
  /** Claimed one at a time, each by a turn of its own. */
  readonly nextTurn: readonly UserMessage[]
  readonly hasPending: boolean
}

export interface CancelOptions {
  /** Keeps what is queued for the next wake. Default `false`: it is discarded. */
  readonly keepInbox?: boolean
  /**
   * Gives up, so many milliseconds from now, on a tool or a model that has not stopped by then: the turn ends without it, and it may
   * still be working. Default: as the loop is configured, which by default waits for ever; so does `Infinity`.
   */
  readonly abandonAfterMs?: number
}

export type DisposeOptions = CancelOptions

/** One agent: a session, an inbox, and a driver that runs turns while there is something to do. */
export interface Agent extends ToolAgent {
  readonly id: SessionId
  readonly session: Session
  readonly options: AgentOptions
  readonly inbox: InboxView
  /** `running` before `followup` and `steer` return. */
  readonly status: AgentStatus
  /** What is registered through it (tools, guards, listeners) belongs to this agent alone and goes with it. */
  readonly ctx: Context
  /** Queues a message for a turn of its own and wakes the agent. @throws HarnessError `AGENT_DISPOSED` */
  followup(message: UserMessage): void
  /** Queues a message for the next step and wakes the agent. @throws HarnessError `AGENT_DISPOSED` */
  steer(message: UserMessage): void
  /** Queues a message for the next step; does not wake. @throws HarnessError `AGENT_DISPOSED` */
  inject(message: UserMessage): void
  /**
   * Aborts the current activity, if there is one, and clears the inbox unless asked to keep it. Default cause `{kind: 'user'}`. Again, it
   * may bound the wait for what was cancelled before. @throws HarnessError `BAD_CANCEL_CAUSE`, `BAD_ABANDON_AFTER`
   */
  cancel(cause?: CancelCause, options?: CancelOptions): void
  /**
   * Settles when no turn runs and none is due; follows work that starts meanwhile. Never rejects. What was given up on may still be
   * working then.
   */
  whenIdle(): Promise<void>
  /** Cancels with `{kind: 'disposed'}`, waits until nothing runs, unwinds `ctx`, closes the session. Idempotent. */
  dispose(options?: DisposeOptions): Promise<void>
}

export interface PreStepEvent {
  readonly agent: Agent
  /** The inbox messages that this step has claimed. */
  readonly messages: readonly UserMessage[]
  readonly turn: number
  readonly step: number
  readonly signal: AbortSignal
}

export type PreStepDecision =
  | { readonly kind: 'enter'; readonly messages: readonly UserMessage[] }
  | {
      readonly kind: 'reject'
      /** The claimed messages wait again, in front, for the next wake. Default `false`: they are gone. */
      readonly keep?: boolean
    }

export interface RequestErrorEvent {
  readonly agent: Agent
  readonly turn: number
  readonly step: number
  readonly failure: LlmFailure
  readonly signal: AbortSignal
}

/** `retry` asks again within the same step; `undefined` lets the turn end with the failure. */
export type RequestErrorDecision = { readonly kind: 'retry' } | undefined

export interface TurnStoppingEvent {
  readonly agent: Agent
  readonly turn: number
  readonly signal: AbortSignal
}

/** What a model says, as it comes. A failed attempt is taken back by its `request/failed`: show it as what may yet go. */
export interface DeltaEvent {
  readonly agent: Agent
  readonly turn: number
  readonly step: number
  /** Which request of this step it is of, from 1, as `request/failed` counts. */
  readonly attempt: number
  /** A frozen copy. */
  readonly chunk: StreamChunk
}

declare module '@deepseek-ai/cordis' {
  interface Events {
    /** @mode emit; listeners are contained. */
    'agent/created'(event: { readonly agent: Agent }): void
    /** @mode emit; listeners are contained. */
    'agent/disposed'(event: { readonly agent: Agent }): void
    /** @mode emit; listeners are contained. */
    'agent/status'(event: { readonly agent: Agent; readonly status: AgentStatus }): void
    /** What ended a turn with `error` (an `LlmFailure` when a request failed, else what was thrown), or stopped the log. @mode emit; listeners are contained. */
    'agent/error'(event: { readonly agent: Agent; readonly turn: number; readonly step: number; readonly error: unknown }): void
    /** Each chunk of a model's stream, for displays: what is committed is in the log. @mode emit; listeners are contained. */
    'agent/delta'(event: DeltaEvent): void
    /** Before every step. @mode waterfall; a throw or an unknown answer ends the turn with `error`. */
    'agent/pre-step'(event: PreStepEvent, next: () => Promise<PreStepDecision>): Promise<PreStepDecision>
    /** A request failed. @mode waterfall; a throw or an unknown answer ends the turn with `error`. */
    'agent/request-error'(event: RequestErrorEvent, next: () => Promise<RequestErrorDecision>): Promise<RequestErrorDecision>
    /** A turn is about to end: steer here to add a step. Every listener runs, in order; a throw ends the turn with `error`. */
    'agent/turn-stopping'(event: TurnStoppingEvent): unknown
  }
}
