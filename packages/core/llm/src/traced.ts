import type { Context } from '@deepseek-ai/cordis'

// What Cordis keeps under registered symbols, and does not type.
const ORIGINAL = Symbol.for('cordis.original')
const FILTER = Symbol.for('cordis.filter')

/**
 * Cordis hands out traced proxies of its services; this is the plain object behind one, several times faster on a hot path. Only for
 * methods that need not know who calls: they see the context that the service was made in.
 */
export function plain<T extends object>(service: T): T {
  return (service as T & { readonly [ORIGINAL]?: T })[ORIGINAL] ?? service
}

/** A listener as Cordis keeps it. */
export interface Hook {
  readonly ctx: Context
  readonly global?: boolean
}

/** The plugin whose listener is the one at `index` among those that `carrier` reached. */
export function ownerAt(hooks: readonly Hook[], carrier: object | null, index: number): string {
  const filter = (carrier as { readonly [FILTER]?: (ctx: Context) => boolean } | null)?.[FILTER]
  const heard = hooks.filter((hook) => hook.global === true || filter === undefined || filter.call(carrier, hook.ctx))
  return heard[index]?.ctx.fiber.name ?? 'unknown'
}
