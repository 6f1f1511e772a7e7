import { setMaxListeners } from 'node:events'
import type { Agent } from '@loopguard/agent-loop'
import type { Subagents } from '@loopguard/subagent'
import { follow, type Follower, unfollow } from '@loopguard/timeout'
import { AgentCap, MAX_REFUSALS } from './agent-cap.ts'
import { over } from './failures.ts'
import { Slots } from './slots.ts'
import type { AgentOutcome, AgentTask, Workflow, WorkflowProgram, WorkflowRequest } from './types.ts'

export interface RunParts extends WorkflowRequest {
  readonly subagents: Subagents
  readonly maxTotalAgents: number
  readonly maxConcurrentAgents: number
  /** The run that this one is inside of. */
  readonly outer: Run | undefined
  /** Told of each agent. */
  readonly made: (agent: Agent) => void
}

/** One run of a program. */
export class Run {
  readonly parent: Agent
  private readonly parts: RunParts
  private readonly controller = new AbortController()
  private readonly slots: Slots
  private readonly cap: AgentCap
  /** Agents and runs that are not done yet. */
  private readonly members = new Set<Promise<unknown>>()
  private readonly left: Promise<void>
  private leave!: () => void
  /** How often the program asked for an agent after it was told to stop. */
  private deaf = 0
  private isSettled = false

  constructor(parts: RunParts) {
    this.parts = parts
    this.parent = parts.parent
    this.slots = new Slots(parts.maxConcurrentAgents)
    this.cap = new AgentCap(parts.maxTotalAgents, parts.outer?.cap, (reason) => this.cancel(reason))
    this.left = new Promise((resolve) => (this.leave = resolve))
    // Each agent that waits for a slot listens.
    setMaxListeners(0, this.controller.signal)
  }

  /** Whether the program has come to its end. One that was left has not, and may still be heard of. */
  get hasSettled(): boolean {
    return this.isSettled
  }

  /** Takes no more agents and no more runs: cancelled, or at its end. */
  get isOver(): boolean {
    return this.controller.signal.aborted
  }

  /** Settles when the program has, or was left, and every agent is gone. */
  async execute<T>(program: WorkflowProgram<T>): Promise<T> {
    const follower: Follower = { abort: (reason) => this.cancel(reason) }
    const upstream = [this.parts.signal, this.parts.outer?.controller.signal].filter((signal) => signal !== undefined)
    for (const signal of upstream) signal.throwIfAborted()
    for (const signal of upstream) follow(signal, follower)
    try {
      return await this.finish(program)
    } finally {
      for (const signal of upstream) unfollow(signal, follower)
    }
  }

  /** The first reason stays. */
  cancel(reason: unknown): void {
    this.controller.abort(reason)
  }

  /** Cancels, and waits for agents and runs, not for the program. */
  async close(reason: unknown): Promise<void> {
    this.cancel(reason)
    await this.quiesce()
  }

  /** Counts a run that is inside this one as a part of it. */
  hold(inner: Promise<unknown>): void {
    const member = inner.catch(() => {}).finally(() => this.members.delete(member))
    this.members.add(member)
  }

  private async finish<T>(program: WorkflowProgram<T>): Promise<T> {
    const { signal } = this.controller
    const running = start(program, { agent: (task) => this.agent(task), signal })
    const outcome = await Promise.race([running, this.left])
    this.isSettled = outcome !== undefined
    const wasCancelled = signal.aborted
    this.cancel(over())
    await this.quiesce()
    if (wasCancelled || outcome === undefined) throw signal.reason
    if ('thrown' in outcome) throw outcome.thrown
    return outcome.value
  }

  private agent(task: AgentTask): Promise<AgentOutcome> {
    if (this.isOver) return this.refuseTheDeaf()
    const refused = this.cap.take()
    if (refused !== undefined) return refusal(refused)
    const outcome = this.child(task)
    this.hold(outcome)
    return outcome
  }

  private async child(task: AgentTask): Promise<AgentOutcome> {
    const { parts, slots } = this
    const { signal } = this.controller
    await slots.take(signal)
    try {
      const { prompt, system, provider, model, toolFilter } = Object(task) as AgentTask
      const { parent, callId } = parts
      const child = parts.subagents.start({ parent, callId, signal, prompt, system, provider, model, toolFilter })
      parts.made(child.agent)
      const { text, reason } = await child.done
      return Object.freeze({ text, reason })
    } finally {
      slots.release()
    }
  }

  /** A program that catches every refusal would go on for ever, and let nothing else run: at some point its call settles no more. */
  refuseTheDeaf(): Promise<never> {
    const { signal } = this.controller
    if (++this.deaf <= MAX_REFUSALS) return refusal(signal.reason as Error)
    this.leave()
    return new Promise(() => {})
  }

  private async quiesce(): Promise<void> {
    while (this.members.size > 0) await Promise.all(this.members)
  }
}

/** A rejection that the program may leave unhandled. */
function refusal(error: Error): Promise<never> {
  const refused = Promise.reject(error)
  refused.catch(() => {})
  return refused
}

/** Runs the program. Never rejects. */
async function start<T>(program: WorkflowProgram<T>, workflow: Workflow): Promise<{ readonly value: T } | { readonly thrown: unknown }> {
  try {
    return { value: await program(Object.freeze(workflow)) }
  } catch (thrown) {
    return { thrown }
  }
}
