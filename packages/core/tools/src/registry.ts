import type { Context } from '@deepseek-ai/cordis'
import { HarnessError, snapshot, show } from '@loopguard/kit'
import { type RegisteredTool, registeredTool } from './definition.ts'
import { lets, restriction } from './restriction.ts'
import { agentOf } from './scope.ts'
import type { ToolAgent, ToolDefinition, ToolGuard, ToolNameFilter, ToolSchema } from './types.ts'

/** What `ctx.tools.guard` adds, and the plugin that it came from. */
export interface OwnedVeto {
  readonly veto: ToolGuard
  readonly plugin: string
}

/** What is registered for all, or for one agent. The lists are replaced, never changed: who reads one may keep it. */
interface Scope {
  readonly tools: Map<string, RegisteredTool>
  vetoes: readonly OwnedVeto[]
  restrictions: readonly ToolNameFilter[]
  schemas: { readonly list: readonly ToolSchema[]; readonly of: number } | undefined
}

const makeScope = (): Scope => ({ tools: new Map(), vetoes: [], restrictions: [], schemas: undefined })

/** Holds the tools and vetoes of all, and those of each agent. */
export class Registry {
  private readonly shared = makeScope()
  private readonly own = new WeakMap<ToolAgent, Scope>()
  /** Goes up with each change of a tool anywhere; a list of schemas is good for one edition. */
  private edition = 0

  /** For all, or for the agent that `ctx` belongs to; until the disposer runs or the fiber of `ctx` goes. */
  register(ctx: Context, definition: ToolDefinition): () => void {
    const tool = registeredTool(definition)
    const { name } = tool.schema
    const agent = agentOf(ctx)
    const { tools } = this.scopeFor(agent)
    if (tools.has(name)) {
      const whose = agent === undefined ? '' : ` of agent ${show(agent.id)}`
      throw new HarnessError(`tools: a tool ${show(name)}${whose} is registered already`, 'TOOL_EXISTS')
    }
    return ctx.effect(
      () => {
        tools.set(name, tool)
        this.edition++
        return () => {
          tools.delete(name)
          this.edition++
        }
      },
      `ctx.tools.register(${show(name)})`,
    ) as () => void
  }

  /** As {@link register}. */
  guard(ctx: Context, guard: ToolGuard): () => void {
    if (typeof guard !== 'function') throw new HarnessError(`tools: a guard must be a function, got ${show(guard)}`, 'BAD_GUARD')
    const scope = this.scopeFor(agentOf(ctx))
    const entry: OwnedVeto = { veto: guard, plugin: ctx.fiber.name }
    return ctx.effect(() => {
      scope.vetoes = [...scope.vetoes, entry]
      return () => {
        scope.vetoes = scope.vetoes.filter((other) => other !== entry)
      }
    }, 'ctx.tools.guard()') as () => void
  }

  /** As {@link register}. */
  restrict(ctx: Context, filter: ToolNameFilter): () => void {
    const scope = this.scopeFor(agentOf(ctx))
    const entry = restriction(filter)
    return ctx.effect(() => {
      scope.restrictions = [...scope.restrictions, entry]
      this.edition++
      return () => {
        scope.restrictions = scope.restrictions.filter((other) => other !== entry)
        this.edition++
      }
    }, 'ctx.tools.restrict()') as () => void
  }

  /** The agent's own tool of that name before the shared one, unless a restriction hides the name. */
  find(name: string, agent: ToolAgent | undefined): RegisteredTool | undefined {
    const own = this.ownOf(agent)
    const tool = own?.tools.get(name) ?? this.shared.tools.get(name)
    return tool === undefined || this.isVisible(name, own) ? tool : undefined
  }

  /** Shared vetoes first. */
  vetoesFor(agent: ToolAgent | undefined): readonly OwnedVeto[] {
    const own = this.ownOf(agent)
    if (own === undefined || own.vetoes.length === 0) return this.shared.vetoes
    return [...this.shared.vetoes, ...own.vetoes]
  }

  /**
   * In order of registration, an agent's own after the shared ones; one that shadows takes the place of what it shadows. The very
   * same frozen list as long as nothing changes. Without what a restriction hides.
   */
  schemasFor(agent: ToolAgent | undefined): readonly ToolSchema[] {
    const own = this.ownOf(agent)
    const scope = own === undefined || (own.tools.size === 0 && own.restrictions.length === 0) ? this.shared : own
    if (scope.schemas?.of === this.edition) return scope.schemas.list
    const visible = new Map([...this.shared.tools, ...scope.tools])
    const list = snapshot(Array.from(visible.values(), (tool) => tool.schema).filter(({ name }) => this.isVisible(name, own)))
    scope.schemas = { list, of: this.edition }
    return list
  }

  private isVisible(name: string, own: Scope | undefined): boolean {
    return lets(this.shared.restrictions, name) && lets(own?.restrictions ?? [], name)
  }

  private ownOf(agent: ToolAgent | undefined): Scope | undefined {
    return agent === undefined ? undefined : this.own.get(agent)
  }

  private scopeFor(agent: ToolAgent | undefined): Scope {
    if (agent === undefined) return this.shared
    let scope = this.own.get(agent)
    if (scope === undefined) this.own.set(agent, (scope = makeScope()))
    return scope
  }
}
