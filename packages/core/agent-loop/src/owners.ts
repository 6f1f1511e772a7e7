import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from './types.ts'

interface Held {
  readonly agents: Set<Agent>
  readonly release: () => unknown
}

/** The fibers that agents go with. One effect of a fiber stands for all of its agents: an effect weighs 2 KiB. */
export class Owners {
  private readonly held = new Map<Context['fiber'], Held>()

  /** @throws what Cordis throws for a fiber that is going or gone: it takes no effect. */
  assertStays(owner: Context): void {
    void owner.effect(() => () => {}, LABEL)()
  }

  /** From now on the agent is disposed of when one of these goes. @throws as {@link assertStays}; then none of them has it. */
  add(agent: Agent, ...owners: readonly Context[]): void {
    for (const owner of owners) this.assertStays(owner)
    for (const owner of owners) this.of(owner).agents.add(agent)
  }

  remove(agent: Agent, ...owners: readonly Context[]): void {
    for (const { fiber } of owners) {
      const held = this.held.get(fiber)
      if (held?.agents.delete(agent) === true && held.agents.size === 0) void held.release()
    }
  }

  private of(owner: Context): Held {
    const { fiber } = owner
    let held = this.held.get(fiber)
    if (held === undefined) {
      const agents = new Set<Agent>()
      const end = (): unknown => {
        this.held.delete(fiber)
        return agents.size === 0 ? undefined : Promise.all(Array.from(agents, (agent) => agent.dispose()))
      }
      this.held.set(fiber, (held = { agents, release: owner.effect(() => end, LABEL) }))
    }
    return held
  }
}

const LABEL = 'ctx.agentLoop.create()'
