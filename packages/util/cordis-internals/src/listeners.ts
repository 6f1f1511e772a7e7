import type { Bus } from './bus.ts'
import { hears, type Hook, hooksOf } from './hooks.ts'
import { plain } from './original.ts'

/** A callback that is called on behalf of a carrier. */
export type Listener = (...args: unknown[]) => unknown

const NONE: readonly Listener[] = Object.freeze([])

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
  const watchers = hooksOf(bus, 'internal/dispatch')
  if (watchers.length > 0) {
    const seen = [...args]
    for (const { callback } of watchers) call(callback, null, [mode, name, seen, carrier])
  }
  const hooks = bus.events._hooks[name]
  return hooks === undefined || hooks.length === 0 ? NONE : heard(hooks, carrier)
}

/** Without `bind`, which is slow for what Cordis wraps a callback in, and without that wrapper for one that names its original. */
function heard(hooks: readonly Hook[], carrier: object | null): readonly Listener[] {
  const listeners: Listener[] = []
  for (const hook of hooks) {
    const callback = plain(hook.callback)
    if (hears(hook, carrier)) listeners.push((...args) => call(callback, carrier, args))
  }
  return listeners
}

function call(callback: Hook['callback'], carrier: object | null, args: readonly unknown[]): unknown {
  return callback.apply(carrier, args as never[])
}
