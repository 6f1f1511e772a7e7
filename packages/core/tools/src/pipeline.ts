import type { Context } from '@deepseek-ai/cordis'
import type { Bus } from '@loopguard/cordis-internals'
import type { Execution } from './execution.ts'
import type { Registry } from './registry.ts'
import type { Sink } from './sink.ts'
import type { ToolExecutionResult } from './types.ts'

/** What the stages of a call share, read once: a read through a context is traced, and slow. */
export interface Pipeline {
  readonly ctx: Context
  readonly bus: Bus
  readonly registry: Registry
  /** The calls that have not finished, for those that name one as their parent. */
  readonly live: Set<LiveCall>
}

/** A call that has not finished, as the calls that it encloses see it. */
export interface LiveCall {
  readonly exec: Execution
  /** Where an enclosed call leaves its contexts and its conclusion. */
  readonly sink: Sink
  abandon(): Promise<ToolExecutionResult> | undefined
}
