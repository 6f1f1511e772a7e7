import type { Bus } from './bus.ts'
import { hears, type Hook, hooksOf } from './hooks.ts'
import { plain } from './original.ts'

/** A callback that is called on behalf of a carrier. */
export type Listener = (...args: unknown[]) => unknown

const NONE: readonly never[] = Object.freeze([])

/**
 * The listeners of one dispatch, outermost first, resolved as Cordis does it, several times as fast. `internal/dispatch` is fired before:
 * a throw there is a veto, and the caller's. Who watches gets a copy of `args`, and so cannot exchange what the listeners will see.
 */
export function listenersOf(
  bus: Bus,
  mode: 'emit' | 'waterfall',
  carrier: object | null,
  name: string,
  args: readonly unknown[],
): readonly Listener[] {
  const hooks = hooksHeard(bus, mode, carrier, name, args)
  return hooks.length === 0
    ? NONE
    : hooks.map(
        (hook) =>
          (...given) =>
            callHook(hook, carrier, given),
      )
}

/** Without `bind`, which is slow for what Cordis wraps a callback in, and without that wrapper for one that names its original. */
export function callHook({ callback }: Hook, carrier: object | null, args: readonly unknown[]): unknown {
  return plain(callback).apply(carrier, args as never[])
}

/** The same, as Cordis keeps them. */
export function hooksHeard(
  bus: Bus,
  mode: 'emit' | 'waterfall',
  carrier: object | null,
  name: string,
  args: readonly unknown[],
): readonly Hook[] {
  const watchers = hooksOf(bus, 'internal/dispatch')
  if (watchers.length > 0) {
    const seen = args.slice()
    for (const { callback } of watchers) (callback as Listener).call(null, mode, name, seen, carrier)
  }
  const hooks = hooksOf(bus, name)
  return carrier === null || hooks.length === 0 ? hooks : hooks.filter((hook) => hears(hook, carrier))
}
