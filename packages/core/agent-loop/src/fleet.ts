import type { Context } from '@deepseek-ai/cordis'
import { type Bus, busOf, plain } from '@loopguard/cordis-internals'
import { codeOf, HarnessError } from '@loopguard/kit'
import type { LlmRuntime, SessionId } from '@loopguard/llm'
import type { Session, SessionStore } from '@loopguard/session'
import { agentOf, type ToolRuntime } from '@loopguard/tools'
import { LoopAgent } from './agent.ts'
import type { Config } from './config.ts'
import { quietly } from './close-after.ts'
import { checkOptions } from './options.ts'
import { Owners } from './owners.ts'
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
  private readonly owners = new Owners()

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
    // First, because a fiber that is going takes no agent: before there is a session to clean up.
    this.owners.assertStays(owner)
    const agent = this.build(owner, id, options, given ?? this.openSession(owner, id))
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

  private build(owner: Context, id: SessionId, options: AgentOptions, session: Session): LoopAgent {
    const { agents, bus, ctx, llm, owners, tools, config } = this
    session.adopt()
    try {
      const end = (agent: LoopAgent): Promise<void> => this.end(agent, owner)
      const agent = new LoopAgent({ id, options, session, bus, loop: ctx, llm, tools, config, end })
      owners.add(agent, ctx, owner)
      agents.set(id, agent)
      return agent
    } catch (error) {
      quietly(() => session.close())
      throw error
    }
  }

  /** In order, whichever of its owners goes. Never rejects. */
  private async end(agent: LoopAgent, owner: Context): Promise<void> {
    await agent.quiesce()
    await agent.closeScope()
    // The id stays taken until its log is free.
    await agent.closeSession()
    this.agents.delete(agent.id)
    agent.depart()
    this.owners.remove(agent, this.ctx, owner)
  }

  private check(id: SessionId, options: AgentOptions): void {
    if (this.agents.has(id)) throw new HarnessError(`agent-loop: there is an agent "${id}" already`, 'AGENT_EXISTS')
    checkOptions(id, options)
  }
}
