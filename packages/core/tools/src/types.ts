import type { Context } from '@deepseek-ai/cordis'
import type { CallId, ContentBlock, SessionId, UserMessage } from '@loopguard/llm'

/** The agent a call is made for, as far as the pipeline needs to know it. The loop's `Agent` is one; its identity is the object's. */
export interface ToolAgent {
  readonly id: SessionId
  /** The agent's own context: what is registered through it belongs to this agent alone. */
  readonly ctx: Context
}

/** Token of one call: fresh for each, so that a nested call can name the call that encloses it. */
export type ToolExecutionToken = symbol

/** What a caller hands to `ctx.tools.execute`. */
export interface ToolExecutionInput {
  readonly callId: CallId
  readonly name: string
  /** Any JSON value; text is what the loop passes for arguments that were no JSON. */
  readonly arguments: unknown
  readonly signal: AbortSignal
  readonly agent?: ToolAgent | undefined
  /** Token of the enclosing call, when one tool calls another. Contexts and conclusion travel to that call. */
  readonly parent?: ToolExecutionToken | undefined
}

/** The execution as listeners see it. Identity is read-only in fact; `arguments` is a deep-frozen lossless snapshot. */
export interface ToolExecution {
  readonly callId: CallId
  readonly name: string
  /** `undefined` when the input was no JSON. */
  readonly arguments: unknown
  readonly agent: ToolAgent | undefined
  readonly parent: ToolExecutionToken | undefined
  readonly token: ToolExecutionToken
  readonly signal: AbortSignal
}

/** The execution as `tools/execute` listeners see it: the one stage in which `signal` may be replaced for what is downstream. */
export interface ToolDispatchExecution extends Omit<ToolExecution, 'signal'> {
  signal: AbortSignal
}

/**
 * The execution as a tool body sees it: a frozen object of this attempt alone, whose `signal` follows the caller's and that of the
 * wrappers. Its methods can be taken off it; after the body has settled they throw `CALL_FINISHED`.
 */
export interface ToolRunContext extends ToolExecution {
  /** Adds a user message that the model reads with its next request, after the results of this step. @throws `BAD_CONTEXT` */
  readonly deferContext: (message: UserMessage) => void
  /** Says that this call, if it succeeds, concludes the turn. */
  readonly concludeTurn: () => void
}

/** A JSON Schema; `{}` accepts anything. */
export type ToolParameters = Readonly<Record<string, unknown>>

/** A tool, as it is registered. */
export interface ToolDefinition<Args = unknown> {
  readonly name: string
  readonly description: string
  readonly parameters: ToolParameters
  /**
   * The body. A string is one text block. It is awaited until it settles, so it must forward `exec.signal` to what does the work.
   * A throw becomes an error result; a string `code` on it is kept.
   */
  execute(args: Args, exec: ToolRunContext): Promise<string | readonly ContentBlock[]> | string | readonly ContentBlock[]
  /** Budget in milliseconds that timeout-policy enforces; asserts that the body forwards `exec.signal`. Never sent to the model. */
  readonly timeoutMs?: number | undefined
  /** Each success of this tool concludes the turn. */
  readonly concludesTurn?: boolean | undefined
  /** Exactly `true` lets this call overlap its neighbours in a batch. */
  isConcurrencySafe?(args: Args): boolean
}

/** What the model is told of a tool. */
export interface ToolSchema {
  readonly name: string
  readonly description: string
  readonly parameters: ToolParameters
}

/** Machine-readable identity of a failure: the error's name and its stable code. */
export interface ToolErrorInfo {
  readonly name: string
  readonly code: string
}

export interface ToolFailure {
  readonly message: string
  readonly info?: ToolErrorInfo
}

export interface ToolExecutionSuccess {
  readonly isError: false
  readonly content: readonly ContentBlock[]
  readonly additionalContexts?: readonly UserMessage[]
  readonly concludesTurn?: true
}

export interface ToolExecutionFailure {
  readonly isError: true
  readonly content: readonly ContentBlock[]
  readonly error: ToolFailure
  readonly additionalContexts?: readonly UserMessage[]
}

/** The outcome of a call, deep-frozen when it leaves the pipeline. */
export type ToolExecutionResult = ToolExecutionSuccess | ToolExecutionFailure

/** Answer of `tools/pre-execute`. Everything but an allow, or an ask that was granted, denies. */
export type PreToolDecision =
  { readonly kind: 'allow' } | { readonly kind: 'deny'; readonly reason: string } | { readonly kind: 'ask'; readonly reason?: string }

/** Answer of `tools/post-execute`. */
export type PostToolDecision =
  | { readonly kind: 'accept'; readonly content?: readonly ContentBlock[]; readonly additionalContexts?: readonly UserMessage[] }
  | { readonly kind: 'block'; readonly feedback: readonly ContentBlock[]; readonly additionalContexts?: readonly UserMessage[] }

/** Synchronous, monotonic veto: a string denies with that reason; so does a throw, a promise, or anything else but `undefined`. */
export type ToolGuard = (exec: ToolExecution) => string | undefined

/**
 * Says which tools are there, by name: exactly `true` keeps one, and a throw hides it. It must answer alike as long as no tool and no
 * restriction comes or goes.
 */
export type ToolNameFilter = (name: string) => boolean

export type ToolExecutionMode = { readonly kind: 'parallel' | 'exclusive' }

/**
 * One call in its three parts; `execute` runs them in a row, the loop overlaps dispatches only. Each part runs once, however often
 * it is asked for, and none rejects. `finish` must be called in the end: until then the call counts as running.
 */
export interface PreparedCall {
  readonly exec: ToolExecution
  /** Stage `tools/execute` and the body; nothing for a call that was aborted, malformed or denied. The outcome is kept for `finish`. */
  dispatch(): Promise<void>
  /**
   * Gives up on a dispatch that runs, for a caller who has aborted and waited: it settles now, with `TOOL_OUTCOME_UNKNOWN`, and what the
   * tool still defers, concludes or answers is dropped. The calls that it made and that still run are given up on, too. Nothing stops the
   * tool. Returns what the dispatch comes to in the end, if ever; `undefined` when there is no dispatch to give up on.
   */
  abandon(): Promise<ToolExecutionResult> | undefined
  /** Stages `tools/post-execute` and `tools/result`. A call that was never dispatched counts as aborted before dispatch. */
  finish(): Promise<ToolExecutionResult>
  /**
   * How long the body has run, in whole milliseconds: all attempts together, without the time of listeners, and without what it still
   * does after it was given up on. `undefined` when it was never started.
   */
  bodyMs(): number | undefined
}

/** What `ctx.get('approval')` must offer for `ask` decisions to be answerable. */
export interface ApprovalService {
  request(request: ApprovalRequest): Promise<'allowed-once' | 'rejected' | 'cancelled' | 'unavailable'>
}

export interface ApprovalRequest {
  readonly agent: ToolAgent
  readonly toolName: string
  readonly callId: CallId
  readonly reason: string | undefined
  readonly signal: AbortSignal
}

declare module '@deepseek-ai/cordis' {
  interface Events {
    /** Before a call runs: allow, deny or ask. @mode waterfall; a throw fails the call, no decision denies it. */
    'tools/pre-execute'(exec: ToolExecution, next: () => Promise<PreToolDecision>): Promise<PreToolDecision>
    /**
     * Around the dispatch. `next()` runs the whole rest of the chain anew, body included. A signal that a listener puts on `exec` is
     * for what is inside of it, and is taken back when it has settled. @mode waterfall; a throw fails the call.
     */
    'tools/execute'(exec: ToolDispatchExecution, next: () => Promise<ToolExecutionResult>): Promise<ToolExecutionResult>
    /**
     * After every outcome, exactly once. @mode waterfall; a throw fails the call, and as with a block nothing of the outcome gets
     * through.
     */
    'tools/post-execute'(exec: ToolExecution, result: ToolExecutionResult, next: () => Promise<PostToolDecision>): Promise<PostToolDecision>
    /** The frozen result of every call, exactly once. @mode emit; listeners are contained. */
    'tools/result'(exec: ToolExecution, result: ToolExecutionResult): void
  }
}
