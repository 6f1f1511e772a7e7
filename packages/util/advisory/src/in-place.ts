import { type Bus, hears, type Hook, hooksOf } from '@loopguard/cordis-internals'

const OUR_GUARDS: ReadonlySet<unknown> = new Set(['repeat-tool-reminder', 'repeated-failure-reminder', 'timeout-policy'])

/** An activation of a guard: each has an object of its own. */
export interface GuardInPlace {
  readonly config: Readonly<Record<string, unknown>>
}

/** Whose a listener is, read once: a context is a proxy, and slow. */
interface Owner {
  /** The name of its plugin. */
  readonly name: unknown
  readonly fiber: object
  readonly place: GuardInPlace
}

/** The guards that review calls, and where they stand among the listeners. */
export class Places {
  private readonly bus: Bus
  private readonly owners = new WeakMap<Hook, Owner>()

  constructor(bus: Bus) {
    this.bus = bus
  }

  /** The activations of a guard that review the calls of a carrier. */
  of(guardName: string, carrier: unknown): readonly GuardInPlace[] {
    return this.reviewers(guardName, carrier).map(({ place }) => place)
  }

  /** The guard that hears an event: if it is one, and no listener of another plugin, which may keep things from it, stands outside. */
  at(event: string, guardName: string, carrier: unknown): GuardInPlace | undefined {
    const guards = this.reviewers(guardName, carrier)
    const [guard] = guards
    if (guard === undefined || guards.length > 1) return undefined
    for (const hook of hooksOf(this.bus, event)) {
      const { fiber, name } = this.ownerOf(hook)
      const isGuard = fiber === guard.fiber
      if ((isGuard || !OUR_GUARDS.has(name)) && hears(hook, carrier)) return isGuard ? guard.place : undefined
    }
    return guard.place
  }

  private reviewers(guardName: string, carrier: unknown): readonly Owner[] {
    const reviewers: Owner[] = []
    for (const hook of hooksOf(this.bus, 'tools/post-execute')) {
      const owner = this.ownerOf(hook)
      if (owner.name === guardName && hears(hook, carrier)) reviewers.push(owner)
    }
    return reviewers
  }

  private ownerOf(hook: Hook): Owner {
    let owner = this.owners.get(hook)
    if (owner === undefined) this.owners.set(hook, (owner = read(hook)))
    return owner
  }
}

function read({ ctx: { fiber } }: Hook): Owner {
  return { name: fiber.runtime?.name, fiber, place: { config: Object(fiber.config) as Record<string, unknown> } }
}
