/**
 * What the command knows of an agent loop. It finds services by name, so the loop of any host of this shape will do, and none is
 * imported.
 */

import type { Context } from '@deepseek-ai/cordis'

export interface Agent {
  readonly id: string
  readonly status: string
  followup(message: object): void
  cancel(cause: { readonly kind: string; readonly signal?: string }): void
  whenIdle(): Promise<void>
}

export interface AgentLoop {
  list(): readonly Agent[]
  prompts?(): readonly { readonly agent: Agent; readonly prompt: string }[]
}

/** Emits `loopguard/ready`: every row is active, work may begin. */
export function announceReady(ctx: Context): void {
  ;(ctx.emit as unknown as (name: string) => void).call(ctx, 'loopguard/ready')
}

/** The agent loop of a composition that has one. */
export function loopOf(ctx: Context): AgentLoop | undefined {
  return ctx.get('agentLoop') as AgentLoop | undefined
}

/** The entries of the invariants' configured lists that match no package, if the composition has a registry that can tell. */
export function unmatchedInvariants(ctx: Context): readonly string[] {
  const registry = ctx.get('invariants') as { unmatched?(): readonly string[] } | undefined
  return registry?.unmatched?.() ?? []
}
