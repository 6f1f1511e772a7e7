import type { Context, Fiber } from '@deepseek-ai/cordis'

/** The plugin name of the guard. */
export const GUARD = 'repeat-tool-reminder'

/** One active guard that hears an event. */
export interface Guard {
  readonly fiber: Fiber
  /** A new object for each activation. */
  readonly activation: object
  /** Some other plugin's listener stands outside of the guard's: it may keep the event from the guard. */
  readonly isExposed: boolean
}

interface Hook {
  readonly ctx: Context
  readonly global?: boolean
}

const EVENT = 'tools/post-execute'

/** The companion listens to both itself, so neither list is missing once it watches. */
type Hooks = Readonly<Record<typeof EVENT | 'agent/pre-step', readonly Hook[]>>

const FILTER = Symbol.for('cordis.filter')

/** Finds the guards on the event bus: which is where they are active, and where their place among others can be seen. */
export class Guards {
  private readonly hooks: Hooks
  /** Activations that were there before. */
  private readonly before: WeakSet<object>
  private readonly owners = new WeakMap<Hook, { readonly fiber: Fiber | undefined }>()

  constructor(ctx: Context) {
    this.hooks = ctx.events._hooks as unknown as Hooks
    this.before = new WeakSet(this.hooks[EVENT])
  }

  /** Those that hear an event with this carrier, if nobody keeps it from them. */
  of(event: keyof Hooks, carrier: unknown): Guard[] {
    const guards: Guard[] = []
    for (const activation of this.hooks[EVENT]) {
      const fiber = this.ownerOf(activation)
      if (fiber !== undefined && hears(activation, carrier))
        guards.push({ fiber, activation, isExposed: this.isExposed(event, fiber, carrier) })
    }
    return guards
  }

  /** Whether this activation began while somebody watched. */
  isFresh({ activation }: Guard): boolean {
    return !this.before.has(activation)
  }

  private isExposed(event: keyof Hooks, fiber: Fiber, carrier: unknown): boolean {
    for (const hook of this.hooks[event]) {
      const owner = this.ownerOf(hook)
      if (owner === fiber) break
      if (owner === undefined && hears(hook, carrier)) return true
    }
    return false
  }

  /** The fiber of the guard that a listener belongs to, if it belongs to one. */
  private ownerOf(hook: Hook): Fiber | undefined {
    let owner = this.owners.get(hook)
    if (owner === undefined) {
      const { fiber } = hook.ctx
      this.owners.set(hook, (owner = { fiber: fiber.runtime?.name === GUARD ? fiber : undefined }))
    }
    return owner.fiber
  }
}

function hears(hook: Hook, carrier: unknown): boolean {
  const filter = (carrier as { readonly [FILTER]?: (ctx: Context) => boolean } | null | undefined)?.[FILTER]
  return hook.global === true || filter === undefined || filter.call(carrier, hook.ctx)
}
