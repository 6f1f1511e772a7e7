import type { Context } from '@deepseek-ai/cordis'
import type { Agent, AgentLoop, AgentOptions } from '@loopguard/agent-loop'
import { isUnloading, plain } from '@loopguard/cordis-internals'
import { type CallId, createUserMessage, text } from '@loopguard/llm'
import type { CancelCause, Session, SessionStore } from '@loopguard/session'
import { follow, type Follower, unfollow } from '@loopguard/timeout'
import type { ToolRuntime } from '@loopguard/tools'
import { resultOf } from './answer.ts'
import { openChildSession } from './child-session.ts'
import type { Config } from './config.ts'
import { subagentsClosed, tooDeep, tooMany } from './failures.ts'
import { depthOf, type FindAgent, livingParentOf, rootOf, spawnedBelow } from './lineage.ts'
import { checkRequest } from './request.ts'
import { keptBy } from './tool-filter.ts'
import type { Subagent, SubagentRequest, SubagentResult } from './types.ts'

const BY_PARENT: CancelCause = Object.freeze({ kind: 'parent' })

/** Starts children and holds those that live. Apart from the service, whose methods run behind a traced proxy. */
export class Launcher {
  private readonly config: Config
  private readonly loop: AgentLoop
  private readonly sessions: SessionStore
  private readonly tools: ToolRuntime
  private readonly find: FindAgent
  private readonly children = new Map<Agent, Promise<unknown>>()
  private isClosed = false

  constructor(ctx: Context, config: Config) {
    this.config = config
    this.loop = plain(ctx.agentLoop)
    this.sessions = plain(ctx.sessions)
    this.tools = plain(ctx.tools)
    this.find = (id) => this.loop.get(id)
  }

  get living(): readonly Agent[] {
    return [...this.children.keys()]
  }

  parentOf(agent: Agent): Agent | undefined {
    return livingParentOf(agent, this.find)
  }

  /** The depth that a child of this agent has. @throws HarnessError `SUBAGENT_DEPTH` */
  depthBelow(parent: Agent): number {
    const depth = depthOf(parent, this.find) + 1
    if (depth > this.config.maxDepth) throw tooDeep(this.config.maxDepth)
    return depth
  }

  /** Whether the tool may make one more child for the root of this agent. @throws HarnessError `SUBAGENT_DEPTH`, `SUBAGENT_TOTAL` */
  checkSpawn(parent: Agent): void {
    this.depthBelow(parent)
    if (spawnedBelow(rootOf(parent, this.find)) >= this.config.maxTotal) throw tooMany(this.config.maxTotal)
  }

  /** Starts a child that `maxTotal` counts. @throws as {@link checkSpawn} and {@link start} */
  spawn(request: SubagentRequest & { readonly callId: CallId }): Subagent {
    const { parent, callId } = request
    this.checkSpawn(parent)
    return this.start(request, (id, depth) => {
      rootOf(parent, this.find).session.append('subagent/spawn', { id, parent: parent.id, depth, callId })
    })
  }

  /** @throws HarnessError `BAD_SUBAGENT`, `SUBAGENT_DEPTH`, `SUBAGENTS_CLOSED`, or what the store and the loop throw; then no child is left. */
  start(request: SubagentRequest, announce?: (id: Session['id'], depth: number) => void): Subagent {
    checkRequest(request, (agent) => this.find(agent.id) === agent)
    const { parent, signal } = request
    const depth = this.depthBelow(parent)
    if (this.isClosed || isUnloading(parent.ctx)) throw subagentsClosed(parent.id)
    signal?.throwIfAborted()
    const agent = this.create(request, depth, announce)
    const done = this.run(agent, request).finally(() => this.children.delete(agent))
    // The caller of `start` may leave the rejection unhandled.
    done.catch(() => {})
    this.children.set(agent, done)
    return { agent, done, cancel: () => agent.cancel(BY_PARENT) }
  }

  /** Ends every child and waits for it. */
  async close(): Promise<void> {
    this.isClosed = true
    const children = [...this.children]
    await Promise.allSettled(children.flatMap(([agent, done]) => [agent.dispose(), done]))
  }

  private create(request: SubagentRequest, depth: number, announce?: (id: Session['id'], depth: number) => void): Agent {
    const { parent, callId } = request
    const session = openChildSession(this.sessions, parent, (id) => this.find(id as Agent['id']) !== undefined)
    try {
      announce?.(session.id, depth)
      session.append('subagent/start', { parent: parent.id, depth, ...(callId !== undefined && { callId }) })
      return parent.ctx.agentLoop.create(session.id, this.optionsOf(request), { session })
    } catch (error) {
      session.close()
      throw error
    }
  }

  private optionsOf({ parent, system, provider, model }: SubagentRequest): AgentOptions {
    const { config } = this
    const wanted = { system: system ?? config.system, provider: provider ?? config.provider, model: model ?? config.model }
    return { ...parent.options, ...Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined)) }
  }

  private async run(agent: Agent, request: SubagentRequest): Promise<SubagentResult> {
    const { parent, prompt, signal } = request
    const follower: Follower = { abort: () => agent.cancel(BY_PARENT) }
    if (signal !== undefined) follow(signal, follower)
    try {
      this.equip(agent, request)
      agent.followup(createUserMessage({ content: [text(prompt)], source: { kind: 'agent', agent: parent.id } }))
      await agent.whenIdle()
      return resultOf(agent)
    } finally {
      if (signal !== undefined) unfollow(signal, follower)
      await agent.dispose()
    }
  }

  /** Gives a child its own tools, and hides from it what it is not to have: also what its parent may not see, now or later. */
  private equip(agent: Agent, { parent, toolFilter, tools: own = [] }: SubagentRequest): void {
    const { tools } = this
    const isOwn = new Set(own.map(({ name }) => name))
    const [configured, wanted] = [keptBy(this.config.toolFilter), keptBy(toolFilter)]
    const isHiddenFromParent = (name: string): boolean => tools.get(name) !== undefined && tools.get(name, parent) === undefined
    for (const tool of own) agent.ctx.tools.register(tool)
    agent.ctx.tools.restrict((name) => isOwn.has(name) || (configured(name) && wanted(name) && !isHiddenFromParent(name)))
  }
}
