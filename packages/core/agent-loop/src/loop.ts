import { type Context, Service } from '@deepseek-ai/cordis'
import type z from '@deepseek-ai/schemastery'
import { type Bus, busOf, HarnessError, type LlmRuntime, SessionId } from '@loopguard/llm'
import type { Session, SessionStore } from '@loopguard/session'
import { agentOf, scopeTo, type ToolRuntime } from '@loopguard/tools'
import { LoopAgent } from './agent.ts'
import { type AgentRow, Config } from './config.ts'
import { plain } from './plain.ts'
import type { Agent, AgentOptions } from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    agentLoop: AgentLoop
  }
}

/** An agent of the configuration, and the message that the composition wants it to start with. */
export interface AgentPrompt {
  readonly agent: Agent
  readonly prompt: string
}

/** `ctx.agentLoop`: makes agents and holds them. Unloading it, or a service that it needs, takes every agent down in order. */
export class AgentLoop extends Service {
  static readonly inject: string[] = ['llm', 'sessions', 'tools']
  static readonly Config: z<Partial<Config>, Config> = Config

  private readonly fleet: Fleet
  private readonly configured: AgentPrompt[] = []

  constructor(ctx: Context, config: Config) {
    super(ctx, 'agentLoop')
    this.fleet = new Fleet(ctx, config.maxParallelToolCalls)
    // Cordis awaits this method of the instance before the service counts as active.
    Object.defineProperty(this, Service.init, { value: () => this.start(config.agents) })
  }

  /**
   * Makes an agent at once. It goes with the fiber of the context that this is called through; made through another agent's
   * `ctx` it is that agent's child. A given session is the agent's from now on.
   * @throws HarnessError `AGENT_EXISTS`, `BAD_AGENT`, or what the session store throws.
   */
  create(id: SessionId, options: AgentOptions, { session }: { readonly session?: Session } = {}): Agent {
    return this.fleet.create(this.ctx, id, options, session)
  }

  /**
   * Loads the agent's log and makes the agent on it: numbering goes on, pending messages wait for the next wake.
   * @throws HarnessError `AGENT_EXISTS`, `BAD_AGENT`, or what `ctx.sessions.load` rejects with.
   */
  resume(id: SessionId, options: AgentOptions): Promise<Agent> {
    return this.fleet.resume(this.ctx, id, options)
  }

  get(id: SessionId): Agent | undefined {
    return this.fleet.agents.get(id)
  }

  /** All live agents, oldest first. */
  list(): Agent[] {
    return [...this.fleet.agents.values()]
  }

  /** The configured agents that want to start with a message; whoever runs the composition sends it when all of it is active. */
  prompts(): readonly AgentPrompt[] {
    return this.configured
  }

  private async start(rows: readonly AgentRow[]): Promise<void> {
    for (const { id, prompt, ...options } of rows) {
      const agent = await this.fleet.restore(SessionId(id), options)
      if (prompt !== undefined) this.configured.push({ agent, prompt })
    }
  }
}

/** The live agents. Apart from the service, whose methods run behind a traced proxy. */
class Fleet {
  readonly agents = new Map<string, LoopAgent>()
  private readonly ctx: Context
  private readonly bus: Bus
  private readonly llm: LlmRuntime
  private readonly tools: ToolRuntime
  private readonly sessions: SessionStore
  private readonly maxParallel: number

  constructor(ctx: Context, maxParallel: number) {
    this.ctx = ctx
    this.bus = busOf(ctx)
    this.llm = plain(ctx.llm)
    this.tools = plain(ctx.tools)
    this.sessions = plain(ctx.sessions)
    this.maxParallel = maxParallel
  }

  create(owner: Context, id: SessionId, options: AgentOptions, given?: Session): Agent {
    this.check(id, options)
    if (given !== undefined && given.id !== id) {
      throw new HarnessError(`agent-loop: agent "${id}" was given the session "${given.id}"; both must have one id`, 'BAD_AGENT')
    }
    const parent = agentOf(owner)
    // Refused on a fiber that is going: before there is a session to clean up.
    let agent: LoopAgent | undefined
    const released = owner.effect(() => () => agent?.dispose(), `ctx.agentLoop.create(${JSON.stringify(id)})`)
    try {
      const session = given ?? this.sessions.create(id, parent === undefined ? {} : { parent: parent.id })
      session.adopt()
      const { bus, llm, tools, maxParallel } = this
      const made = new LoopAgent({ id, options, session, bus, llm, tools, maxParallel })
      this.own(made, () => void released())
      agent = made
    } catch (error) {
      void released()
      throw error
    }
    agent.emit('agent/created', { agent })
    return agent
  }

  async resume(owner: Context, id: SessionId, options: AgentOptions): Promise<Agent> {
    this.check(id, options)
    const session = await this.sessions.load(id)
    try {
      return this.create(owner, id, options, session)
    } catch (error) {
      session.close()
      throw error
    }
  }

  /** Goes on with the agent's log where there is one, and makes the agent where there is none. */
  async restore(id: SessionId, options: AgentOptions): Promise<Agent> {
    try {
      return this.create(this.ctx, id, options)
    } catch (error) {
      if (!(error instanceof HarnessError && error.code === 'SESSION_EXISTS')) throw error
      return this.resume(this.ctx, id, options)
    }
  }

  /**
   * Cordis disposes all effects of a fiber at once, so everything that must go in order is this one effect; within it, what was
   * yielded last goes first.
   */
  private own(agent: LoopAgent, released: () => void): void {
    const { agents, ctx } = this
    agents.set(agent.id, agent)
    const dispose = ctx.effect(
      function* () {
        yield () => {
          agents.delete(agent.id)
          agent.depart()
          released()
        }
        const scope = scopeTo(ctx, agent).plugin({ name: `agent ${agent.id}`, apply() {} })
        agent.ctx = scope.ctx
        yield () => scope.dispose()
        yield () => agent.quiesce()
      },
      `agent ${JSON.stringify(agent.id)}`,
    )
    agent.own(dispose)
  }

  private check(id: SessionId, { provider, model }: AgentOptions): void {
    if (this.agents.has(id)) throw new HarnessError(`agent-loop: there is an agent "${id}" already`, 'AGENT_EXISTS')
    for (const [key, value] of Object.entries({ id, provider, model })) {
      if (typeof value !== 'string' || value.trim() === '') {
        throw new HarnessError(
          `agent-loop: agent ${JSON.stringify(id)}: \`${key}\` must be non-blank text, got ${JSON.stringify(value)}`,
          'BAD_AGENT',
        )
      }
    }
  }
}
