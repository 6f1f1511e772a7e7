import { type Context, Service } from '@deepseek-ai/cordis'
import type z from '@deepseek-ai/schemastery'
import { SessionId } from '@loopguard/llm'
import type { Session } from '@loopguard/session'
import { type AgentRow, Config } from './config.ts'
import { Fleet } from './fleet.ts'
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
  private readonly made: { readonly agent: Agent; readonly prompt: string | undefined }[] = []

  constructor(ctx: Context, config: Config) {
    super(ctx, 'agentLoop')
    this.fleet = new Fleet(ctx, config)
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

  /** The configured agents that want to start with a message; the command that runs the composition sends it when every row is active. */
  prompts(): readonly AgentPrompt[] {
    return this.made.flatMap(({ agent, prompt }) => (prompt === undefined ? [] : [{ agent, prompt }]))
  }

  /** The agents of the configuration, in its order. */
  configured(): readonly Agent[] {
    return this.made.map(({ agent }) => agent)
  }

  private async start(rows: readonly AgentRow[]): Promise<void> {
    for (const { id, prompt, onTakeover: _workers, ...options } of rows) {
      const agent = await this.fleet.restore(SessionId(id), options)
      this.made.push({ agent, prompt })
    }
  }
}
