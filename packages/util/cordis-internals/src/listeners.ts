import type { Bus } from './bus.ts'
import { hears, type Hook, isHeard } from './hooks.ts'

/** A callback that is called on behalf of a carrier. */
export type Listener = (...args: unknown[]) => unknown

const NONE: readonly Listener[] = Object.freeze([])
const WATCHED = 'internal/dispatch'

/**
 * The listeners of one dispatch, outermost first, as Cordis resolves them at this moment. Where somebody watches dispatches, Cordis
 * resolves them: it fires `internal/dispatch` meanwhile, and a throw there is a veto, and the caller's.
 */
export function listenersOf(
  bus: Bus,
  mode: 'emit' | 'waterfall',
  carrier: object | null,
  name: string,
  args: readonly unknown[],
): readonly Listener[] {
  const { events } = bus
  if (isHeard(bus, WATCHED)) return events.dispatch(mode, carrier === null ? [name, ...args] : [carrier, name, ...args]) as Listener[]
  return isHeard(bus, name) ? heard(events._hooks[name] as readonly Hook[], carrier) : NONE
}

/** Without `bind`, which is slow for what Cordis wraps a callback in. */
function heard(hooks: readonly Hook[], carrier: object | null): readonly Listener[] {
  const listeners: Listener[] = []
  for (const hook of hooks) {
    const { callback } = hook
    if (hears(hook, carrier)) listeners.push((...args) => callback.apply(carrier, args as never[]))
  }
  return listeners
}
