import { type Bus, hears, type Hook, hooksOf } from '@loopguard/cordis-internals'

/** An activation of a guard: each has an object of its own. */
export interface GuardInPlace {
  readonly config: Readonly<Record<string, unknown>>
}

/** Whose a listener is, read once: a context is a proxy, and slow. */
export interface Owner {
  /** The name of its plugin. */
  readonly name: unknown
  readonly fiber: object
  readonly place: GuardInPlace
}

/** Tells who hears an event of a carrier, outermost first. */
export function ownersOn(bus: Bus): (event: string, carrier: unknown) => readonly Owner[] {
  const owners = new WeakMap<Hook, Owner>()
  const ownerOf = (hook: Hook): Owner => {
    let owner = owners.get(hook)
    if (owner === undefined) owners.set(hook, (owner = read(hook)))
    return owner
  }
  return (event, carrier) =>
    hooksOf(bus, event)
      .filter((hook) => hears(hook, carrier))
      .map(ownerOf)
}

function read({ ctx: { fiber } }: Hook): Owner {
  return { name: fiber.runtime?.name, fiber, place: { config: Object(fiber.config) as Record<string, unknown> } }
}
