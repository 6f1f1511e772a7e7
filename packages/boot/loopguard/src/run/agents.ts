/**
 * What the command knows of an agent loop. It finds services by name, so the loop of any host of this shape will do, and none is
 * imported.
 */

import { isAbsolute, relative } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import { spoken } from './spoken.ts'

interface Agent {
  readonly id: string
  readonly status: string
  readonly session?: { readonly events: readonly { readonly type: string }[]; readonly location?: string | undefined }
  readonly inbox?: { readonly hasPending: boolean }
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
  prompts?(): readonly Prompt[]
  configured?(): readonly Agent[]
}

interface Prompt {
  readonly agent: Agent
  readonly prompt: string
}

/**
 * What is sent to the configured agents: without a word of the user their own prompts, and those to fresh sessions only; with `true`
 * their own in any case, with `false` nothing; else this text, to every one of them.
 */
export type PromptChoice = boolean | string | undefined

/** Says `loopguard/ready`, and sends the configured agents their prompts. Whether anything runs now. */
export function sendPrompts(ctx: Context, choice: PromptChoice, say: (text: string) => void): boolean {
  // Before a plugin that has waited for it sends something: to be fresh is a matter of the log as it was found.
  const prompts = chosen(ctx, choice).map((prompt) => ({ ...prompt, isSent: choice !== undefined || isFresh(prompt.agent) }))
  ;(ctx.emit as unknown as (name: string) => void).call(ctx, 'loopguard/ready')
  for (const { agent, prompt, isSent } of prompts) {
    if (isSent) agent.followup(spoken(prompt))
    else say(`agent "${agent.id}" goes on with its log, and is not sent its prompt again; --prompt sends it\n`)
  }
  return busyAgents(ctx).length > 0
}

function chosen(ctx: Context, choice: PromptChoice): readonly Prompt[] {
  if (choice === false) return []
  const loop = loopOf(ctx)
  if (typeof choice !== 'string') return loop?.prompts?.() ?? []
  return (loop?.configured?.() ?? []).map((agent) => ({ agent, prompt: choice }))
}

/** Nobody has said anything to it, and nothing waits. */
function isFresh({ session, inbox }: Agent): boolean {
  return session?.events.some(({ type }) => type === 'user/message') !== true && inbox?.hasPending !== true
}

/** Says where the log of each agent is, also of those that are made from now on. One in memory is nowhere. */
export function tellLogs(ctx: Context, say: (text: string) => void): void {
  const tell = ({ id, session }: Agent): void => {
    if (session?.location !== undefined) say(`log of agent "${id}": ${shortest(session.location)}\n`)
  }
  for (const agent of loopOf(ctx)?.list() ?? []) tell(agent)
  heard<{ readonly agent: Agent }>(ctx, 'agent/created', ({ agent }) => tell(agent))
}

/** From here, when it is below. */
function shortest(location: string): string {
  const path = isAbsolute(location) ? relative(process.cwd(), location) : location
  return path === '' || path.startsWith('..') || isAbsolute(path) ? location : path
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
  heard<{ readonly agent: Agent; readonly status: string }>(ctx, 'agent/status', ({ agent, status }) => {
    if (status === 'running') cancel(agent)
  })
  for (const agent of loopOf(ctx)?.list() ?? []) cancel(agent)
}

function heard<Event>(ctx: Context, name: string, listener: (event: Event) => void): void {
  ;(ctx.on as unknown as (name: string, listener: (event: Event) => void) => void).call(ctx, name, listener)
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
