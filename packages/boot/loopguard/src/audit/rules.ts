import type { TrailCall } from './trail.ts'

/** The rules that look for loops. All but the last are guards; that one is for audits alone. */
export const RULES = ['repeat-tool-reminder', 'repeated-failure-reminder', 'no-news-run'] as const
export type RuleName = (typeof RULES)[number]

/** A call of a trail with what rules compare, told once. */
export interface AuditedCall extends TrailCall {
  readonly args: unknown
  /** Digests of the call, and of its outcome without what is volatile. */
  readonly identity: string
  readonly result: string
  /** All calls of its step; the same object for each of them. */
  readonly stepCalls: { readonly calls: readonly { readonly name: string; readonly args: unknown }[] }
}

/** Calls that belong together in the eyes of a rule, so far. */
export interface Series {
  readonly calls: AuditedCall[]
}

/** A rule looks at calls in the order of the model, and says after which of them it speaks, and of which series. */
export interface Rule {
  readonly name: string
  look(call: AuditedCall): Series | undefined
  /** The user has spoken. */
  reset(): void
}
