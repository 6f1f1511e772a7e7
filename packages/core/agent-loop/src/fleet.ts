import type { Context } from '@deepseek-ai/cordis'
import { type Bus, busOf, plain } from '@loopguard/cordis-internals'
import { codeOf, HarnessError } from '@loopguard/kit'
import type { LlmRuntime, SessionId } from '@loopguard/llm'
import type { Session, SessionStore } from '@loopguard/session'
import { agentOf, scopeTo, type ToolRuntime } from '@loopguard/tools'
import { LoopAgent } from './agent.ts'
import type { Config } from './config.ts'
import { quietly } from './close-after.ts'
import { checkOptions } from './options.ts'
import type { Agent, AgentOptions } from './types.ts'

/** The live agents. Apart from the service, whose methods run behind a traced proxy. */
export class Fleet {
  readonly agents: Map<string, LoopAgent> = new Map()
  private readonly ctx: Context
  private readonly bus: Bus
  private readonly llm: LlmRuntime
  private readonly tools: ToolRuntime
  private readonly sessions: SessionStore
  private readonly config: Config

  constructor(ctx: Context, config: Config) {
    this.ctx = ctx
    this.bus = busOf(ctx)
    this.llm = plain(ctx.llm)
    this.tools = plain(ctx.tools)
    this.sessions = plain(ctx.sessions)
    this.config = config
  }

  /** @throws HarnessError `AGENT_EXISTS`, `BAD_AGENT`, or what the store throws; then nothing is left of the attempt. */
  create(owner: Context, id: SessionId, options: AgentOptions, given?: Session): Agent {
    this.check(id, options)
    if (given !== undefined && given.id !== id) {
      throw new HarnessError(`agent-loop: agent "${id}" was given the session "${given.id}"; both must have one id`, 'BAD_AGENT')
    }
    let agent: LoopAgent | undefined
    // First, because a fiber that is going refuses it: before there is a session to clean up.
    const released = owner.effect(() => () => agent?.dispose(), `ctx.agentLoop.create(${JSON.stringify(id)})`)
    try {
      agent = this.build(id, options, given ?? this.openSession(owner, id), () => void released())
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
      quietly(() => session.close())
      throw error
    }
  }

  /** Goes on with the agent's log where there is one, and makes the agent where there is none. */
  async restore(id: SessionId, options: AgentOptions): Promise<Agent> {
    // In this order: a store may take until its first flush to say that an id is taken.
    try {
      return await this.resume(this.ctx, id, options)
    } catch (error) {
      if (codeOf(error) !== 'SESSION_NOT_FOUND') throw error
      return this.create(this.ctx, id, options)
    }
  }

  private openSession(owner: Context, id: SessionId): Session {
    const parent = agentOf(owner)
    return this.sessions.create(id, parent === undefined ? {} : { parent: parent.id })
  }

  private build(id: SessionId, options: AgentOptions, session: Session, released: () => void): LoopAgent {
    const { bus, llm, tools, config } = this
    session.adopt()
    try {
      const agent = new LoopAgent({ id, options, session, bus, llm, tools, config })
      this.own(agent, released)
      return agent
    } catch (error) {
      quietly(() => session.close())
      throw error
    }
  }

  /**
   * Cordis disposes all effects of a fiber at once, so everything that must go in order is this one effect; within it, what was
   * yielded last goes first. The scope's own disposer is yielded, not a call of it: that takes it out of the fiber's hands.
   */
  private own(agent: LoopAgent, released: () => void): void {
    const { agents, ctx } = this
    const dispose = ctx.effect(
      function* () {
        const scope = scopeTo(ctx, agent).plugin({ name: `agent ${agent.id}`, apply() {} })
        agent.ctx = scope.ctx
        agents.set(agent.id, agent)
        yield () => {
          const depart = (): void => {
            agents.delete(agent.id)
            agent.depart()
            released()
          }
          // The id stays taken until its log is free.
          const releasing = agent.closeSession()
          return releasing === undefined ? depart() : releasing.then(depart)
        }
        yield scope.dispose
        yield () => agent.quiesce()
      },
      `agent ${JSON.stringify(agent.id)}`,
    )
    agent.own(dispose)
  }

  private check(id: SessionId, options: AgentOptions): void {
    if (this.agents.has(id)) throw new HarnessError(`agent-loop: there is an agent "${id}" already`, 'AGENT_EXISTS')
    checkOptions(id, options)
  }
}
