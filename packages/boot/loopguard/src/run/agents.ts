/**
 * What the command knows of an agent loop. It finds services by name, so the loop of any host of this shape will do, and none is
 * imported.
 */

import { randomUUID } from 'node:crypto'
import type { Context } from '@deepseek-ai/cordis'

interface Agent {
  readonly id: string
  readonly status: string
  followup(message: object): void
  cancel(cause: StopCause, options?: { readonly abandonAfterMs?: number }): void
  whenIdle(): Promise<void>
}

/** Why agents are told to stop. */
interface StopCause {
  readonly kind: string
  readonly signal?: string
  readonly message?: string
}

interface AgentLoop {
  list(): readonly Agent[]
  prompts?(): readonly { readonly agent: Agent; readonly prompt: string }[]
}

/** Says `loopguard/ready`, and sends the prompts of the configured agents. Whether anything runs now. */
export function sendPrompts(ctx: Context): boolean {
  ;(ctx.emit as unknown as (name: string) => void).call(ctx, 'loopguard/ready')
  for (const { agent, prompt } of loopOf(ctx)?.prompts?.() ?? []) {
    agent.followup({ id: randomUUID(), role: 'user', content: [{ type: 'text', text: prompt }], source: { kind: 'user' } })
  }
  return busyAgents(ctx).length > 0
}

/** Waits until every agent is idle, those included that start meanwhile. */
export async function quiescence(ctx: Context): Promise<void> {
  for (let agents = busyAgents(ctx); agents.length > 0; agents = busyAgents(ctx)) {
    await Promise.all(agents.map((agent) => agent.whenIdle()))
    // What listens to the end of a turn may start the next one.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

export function busyAgents(ctx: Context): Agent[] {
  const agents = loopOf(ctx)?.list() ?? []
  return agents.filter(({ status }) => status !== 'idle')
}

/**
 * Cancels every agent, and each that wakes from now on: the end of a child in the background would wake its parent. A loop that can
 * gives up on what does not stop in time.
 */
export function cancelAgents(ctx: Context, cause: StopCause, abandonAfterMs: number): void {
  const cancel = (agent: Agent): void => agent.cancel(cause, { abandonAfterMs })
  listenToStatus(ctx, ({ agent, status }) => {
    if (status === 'running') cancel(agent)
  })
  for (const agent of loopOf(ctx)?.list() ?? []) cancel(agent)
}

function listenToStatus(ctx: Context, listener: (event: { readonly agent: Agent; readonly status: string }) => void): void {
  ;(ctx.on as unknown as (name: string, heard: typeof listener) => void).call(ctx, 'agent/status', listener)
}

/** The agent loop of a composition that has one. */
function loopOf(ctx: Context): AgentLoop | undefined {
  return ctx.get('agentLoop') as AgentLoop | undefined
}

/** The entries of the invariants' configured lists that match no package, if the composition has a registry that can tell. */
export function unmatchedInvariants(ctx: Context): readonly string[] {
  const registry = ctx.get('invariants') as { unmatched?(): readonly string[] } | undefined
  return registry?.unmatched?.() ?? []
}
