import type { Context } from '@deepseek-ai/cordis'
import type { Bus } from './bus.ts'

const FILTER = Symbol.for('cordis.filter')

/** A listener as Cordis keeps it. */
export interface Hook {
  readonly ctx: Context
  readonly global?: boolean
  readonly callback: (...args: never[]) => unknown
}

const NONE: readonly Hook[] = Object.freeze([])

/** A copy of the listeners of an event, of every context, outermost first. */
export function hooksOf({ events }: Bus, event: string): readonly Hook[] {
  const hooks = events._hooks[event]
  return hooks === undefined || hooks.length === 0 ? NONE : hooks.slice()
}

/** Whether an event has a listener at all, in whatever context. Much cheaper than a dispatch that finds none. */
export function isHeard({ events }: Bus, event: string): boolean {
  return (events._hooks[event]?.length ?? 0) > 0
}

/** Whether an event of this carrier reaches a listener. */
export function hears(hook: Hook, carrier: unknown): boolean {
  const filter = (carrier as { readonly [FILTER]?: (ctx: Context) => boolean } | null | undefined)?.[FILTER]
  return hook.global === true || filter === undefined || filter.call(carrier, hook.ctx)
}

/** The plugin whose listener is the one at `index` among those that `carrier` reached. */
export function ownerAt(hooks: readonly Hook[], carrier: object | null, index: number): string {
  return hooks.filter((hook) => hears(hook, carrier))[index]?.ctx.fiber.name ?? 'unknown'
}
