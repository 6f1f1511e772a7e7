import type { Context } from '@deepseek-ai/cordis'
import type { Bus } from '@loopguard/cordis-internals'
import type { Call } from './call.ts'
import type { Registry } from './registry.ts'

/** What the stages of a call share, read once: a read through a context is traced, and slow. */
export interface Host {
  readonly ctx: Context
  readonly bus: Bus
  readonly registry: Registry
  /** The calls that have not finished, for those that name one as their parent. */
  readonly live: Set<Call>
}
