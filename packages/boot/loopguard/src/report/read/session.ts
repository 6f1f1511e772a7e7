import type { Outcome } from '@loopguard/repeat'

/** Tokens of one request. */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
}

/** A span of a session: milliseconds since its first event, or, where no times were recorded, places in its order. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** A request to a model: one that was answered, or an attempt that failed. */
export interface ModelRequest extends Span {
  readonly turn: number
  readonly step: number
  /** As `provider/model`, or the model alone. */
  readonly model: string | undefined
  /** Absent where it was not recorded. */
  readonly usage?: Usage
  /** Code of the failure of an attempt that had no answer. */
  readonly failure?: string
  /** When the step was over: model and tools. */
  readonly stepEnd: number
  /** What the answer called, by their places in {@link Session.calls}. */
  readonly calls: readonly number[]
}

/** A tool call that was made. */
export interface Call extends Span {
  readonly turn: number
  readonly step: number
  readonly name: string
  /** The model's raw text. */
  readonly arguments: string
  /** `undefined` when it has no result. */
  readonly outcome: Outcome | undefined
  /** The code of the failure. */
  readonly code?: string
  /** The user has spoken since the call before. */
  readonly afterUser: boolean
}

export interface Turn extends Span {
  readonly turn: number
  /** Why it ended; `undefined` when it did not, or nothing says so. */
  readonly reason: string | undefined
}

/** What a guard told the model. */
export interface Reminder {
  readonly guard: string
  readonly text: string
  readonly at: number
  /** The place of the call that it followed, as the log says it; never guessed. */
  readonly call: number | undefined
}

/** What is known of a session, whatever format it was recorded in. */
export interface Session {
  /** As the log says. */
  readonly id: string | undefined
  readonly models: readonly string[]
  /** Milliseconds since the epoch; `undefined` when no times were recorded, and then all spans are places. */
  readonly startedAt: number | undefined
  readonly turns: readonly Turn[]
  readonly requests: readonly ModelRequest[]
  /** In the order of the model. */
  readonly calls: readonly Call[]
  readonly reminders: readonly Reminder[]
  /** Whether failures have codes: without, timeouts cannot be told from other errors. */
  readonly hasCodes: boolean
  /** What a reader of this should know of how it was read, a sentence each. */
  readonly notes: readonly string[]
}
