import type { Agent } from '@loopguard/agent-loop'
import type { CallId, SessionId } from '@loopguard/llm'
import type { TurnEndReason } from '@loopguard/session'
import type { ToolDefinition } from '@loopguard/tools'
import type { ToolFilter } from './tool-filter.ts'

/** What a child is asked for with. */
export interface SubagentRequest {
  readonly parent: Agent
  /** What the child is to do: all that it knows of the matter. */
  readonly prompt: string
  /** Default: as the service is configured, and then the parent's. */
  readonly system?: string | undefined
  readonly provider?: string | undefined
  readonly model?: string | undefined
  /** Which tools the child has, of those that the parent and the configuration of the service leave it. */
  readonly toolFilter?: ToolFilter | undefined
  /** Tools of this child alone. No filter hides them. */
  readonly tools?: readonly ToolDefinition<never>[] | undefined
  /** Cancels the child, with the cause `{ kind: 'parent' }`. */
  readonly signal?: AbortSignal | undefined
  /** The call that the child is made for. */
  readonly callId?: CallId | undefined
}

/** What became of a child. */
export interface SubagentResult {
  readonly id: SessionId
  /** Its last answer that was not empty; empty when there is none. */
  readonly text: string
  /** How its last turn ended; `interrupted` when that does not stand in its log. */
  readonly reason: TurnEndReason
  /** The cap that has ended it, as `budget.<key>`. */
  readonly limit?: string
}

/** A child that works. */
export interface Subagent {
  readonly agent: Agent
  /** Settles when the child is gone. Rejects when it could not begin. */
  readonly done: Promise<SubagentResult>
  /** Cancels the child, with the cause `{ kind: 'parent' }`. */
  cancel(): void
}

declare module '@loopguard/llm' {
  interface MessageSourceMap {
    /** What an agent has told its child to do. */
    agent: { readonly kind: 'agent'; readonly agent: SessionId }
  }
}

declare module '@loopguard/session' {
  interface SessionEventMap {
    /** Second event of a child. A child of an agent that is no child has depth 1. */
    'subagent/start': { readonly parent: SessionId; readonly depth: number; readonly callId?: CallId }
    /** In the log of the root agent: the tool makes a child, of the root or of one below it. Counted by `maxTotal`. */
    'subagent/spawn': { readonly id: SessionId; readonly parent: SessionId; readonly depth: number; readonly callId: CallId }
  }
}
