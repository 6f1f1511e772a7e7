import { type Context, Service } from '@deepseek-ai/cordis'
import type z from '@deepseek-ai/schemastery'
import { isUnloading } from '@loopguard/cordis-internals'
import type {} from '@loopguard/jobs'
import type { Agent } from '@loopguard/agent-loop'
import { Config } from './config.ts'
import { Launcher } from './launcher.ts'
import { subagentTool } from './tool.ts'
import type { Subagent, SubagentRequest, SubagentResult } from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    subagents: Subagents
  }
}

/**
 * `ctx.subagents`: agents that work for another one, each with a session of its own, and the tool that lets the model ask for them. A
 * child goes when its work is done, and with its parent, and with this service, whichever comes first.
 */
export class Subagents extends Service {
  static readonly inject: string[] = ['agentLoop', 'sessions', 'tools']
  static readonly Config: z<Partial<Config>, Config> = Config

  private readonly launcher: Launcher

  constructor(ctx: Context, config: Config) {
    super(ctx, 'subagents')
    const launcher = (this.launcher = new Launcher(ctx, config))
    ctx.effect(() => () => launcher.close(), 'ctx.subagents: the children')
    provideTool(ctx, config.toolName, launcher)
  }

  /**
   * Makes a child and gives it its task, at once.
   * @throws HarnessError `BAD_SUBAGENT`, `SUBAGENT_DEPTH`, `SUBAGENTS_CLOSED`, the signal's reason when that has aborted, or what the
   * session store and the loop throw; then there is no child.
   */
  start(request: SubagentRequest): Subagent {
    return this.launcher.start(request)
  }

  /** Makes a child and waits until its work is done and it is gone. Rejects as {@link start} throws. */
  async run(request: SubagentRequest): Promise<SubagentResult> {
    return this.launcher.start(request).done
  }

  /** The children that live, oldest first. */
  list(): readonly Agent[] {
    return this.launcher.living
  }

  /** The agent that this one is a child of, while that lives. */
  parentOf(agent: Agent): Agent | undefined {
    return this.launcher.parentOf(agent)
  }
}

/** While there is a `ctx.jobs`, the tool has `run_in_background`. */
function provideTool(ctx: Context, name: string, launcher: Launcher): void {
  let unregister = ctx.tools.register(subagentTool(name, launcher, undefined))
  ctx.inject(['jobs'], (inner) => {
    inner.effect(() => {
      unregister()
      unregister = ctx.tools.register(subagentTool(name, launcher, inner.jobs))
      return () => {
        if (isUnloading(ctx)) return
        unregister()
        unregister = ctx.tools.register(subagentTool(name, launcher, undefined))
      }
    }, `${name}: run_in_background`)
  })
}
