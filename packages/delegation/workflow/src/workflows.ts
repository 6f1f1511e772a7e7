import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, Service } from '@deepseek-ai/cordis'
import type z from '@deepseek-ai/schemastery'
import type { Agent, AgentLoop } from '@loopguard/agent-loop'
import { plain } from '@loopguard/cordis-internals'
import { show } from '@loopguard/kit'
import type { Subagents } from '@loopguard/subagent'
import { Config } from './config.ts'
import { badWorkflow, closed } from './failures.ts'
import { Run } from './run.ts'
import type { WorkflowProgram, WorkflowRequest } from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    workflow: Workflows
  }
}

/** `ctx.workflow`: programs that make agents, each with a cap on how many. */
export class Workflows extends Service {
  static readonly inject: string[] = ['agentLoop', 'subagents']
  static readonly Config: z<Partial<Config>, Config> = Config

  private readonly desk: Desk

  constructor(ctx: Context, config: Config) {
    super(ctx, 'workflow')
    const desk = (this.desk = new Desk(ctx, config))
    ctx.effect(() => () => desk.close(), 'ctx.workflow: the runs')
  }

  /**
   * Runs a program, and resolves with what it returns once every agent that it made is gone. What it has left running is cancelled then.
   * A run that is started by the program of another, or by an agent below it, counts against that one too, and ends with it.
   *
   * Rejects, before anything starts, with `BAD_WORKFLOW` for limits that cannot be or are above what is configured, `WORKFLOW_CLOSED`, and
   * the signal's reason when that has aborted; later with what the program throws, with the signal's reason when the run is cancelled, and
   * with `WORKFLOW_CANCELLED` when its program goes on after ten agents were refused with `AGENT_CAP`.
   */
  run<T>(request: WorkflowRequest, program: WorkflowProgram<T>): Promise<T> {
    return this.desk.run(request, program)
  }
}

/** The runs. Apart from the service, whose methods run behind a traced proxy. */
class Desk {
  private readonly config: Config
  private readonly loop: AgentLoop
  private readonly subagents: Subagents
  private readonly runs = new Set<Run>()
  /** Of each agent that a run has made, the run. */
  private readonly runOf = new WeakMap<Agent, Run>()
  /** The run whose program is running. */
  private readonly current = new AsyncLocalStorage<Run>()
  private isClosed = false

  constructor(ctx: Context, config: Config) {
    this.config = config
    this.loop = plain(ctx.agentLoop)
    this.subagents = plain(ctx.subagents)
  }

  async run<T>(request: WorkflowRequest, program: WorkflowProgram<T>): Promise<T> {
    const { parent } = Object(request) as Partial<WorkflowRequest>
    if (typeof parent !== 'object' || parent === null || this.loop.get(parent.id) !== parent) {
      throw badWorkflow(`\`parent\` must be a living agent of the loop, got ${show((parent as Partial<Agent> | undefined)?.id ?? parent)}`)
    }
    if (typeof program !== 'function') throw badWorkflow(`the program must be a function, got ${show(program)}`)
    const limits = {
      maxTotalAgents: this.limit(request, 'maxTotalAgents'),
      maxConcurrentAgents: this.limit(request, 'maxConcurrentAgents'),
    }
    if (this.isClosed) throw closed()
    const { subagents } = this
    const outer = this.outerOf(parent)
    if (outer?.isOver === true) return outer.refuseTheDeaf()
    const run: Run = new Run({ ...request, ...limits, subagents, outer, made: (agent) => this.runOf.set(agent, run) })
    this.runs.add(run)
    const running = this.current.run(run, () => run.execute(program)).finally(() => this.runs.delete(run))
    outer?.hold(running)
    return running
  }

  async close(): Promise<void> {
    this.isClosed = true
    await Promise.all(Array.from(this.runs, (run) => run.close(closed())))
  }

  /** What a run may do: as much as it asks for, up to the ceiling. */
  private limit(request: WorkflowRequest, key: keyof Config): number {
    const ceiling = this.config[key]
    const wanted = request[key] ?? ceiling
    if (Number.isSafeInteger(wanted) && wanted >= 1 && wanted <= ceiling) return wanted
    throw badWorkflow(`\`${key}\` must be an integer from 1 to ${ceiling}, which is what is configured; got ${show(wanted)}`)
  }

  /** The run that a run of this parent is inside of: started by its program, or by an agent that it has made, or one below that. */
  private outerOf(parent: Agent): Run | undefined {
    const current = this.current.getStore()
    if (current?.hasSettled === false && current.parent === parent) return current
    for (let agent: Agent | undefined = parent; agent !== undefined; agent = this.subagents.parentOf(agent)) {
      const run = this.runOf.get(agent)
      if (run !== undefined) return run.hasSettled ? undefined : run
    }
    return undefined
  }
}
