import type { Bus } from './bus.ts'
import { hears, type Hook } from './hooks.ts'

/** A callback that is called on behalf of a carrier. */
export type Listener = (...args: unknown[]) => unknown

const NONE: readonly Listener[] = Object.freeze([])
const WATCHED = 'internal/dispatch'

/**
 * The listeners of one dispatch, outermost first, as Cordis resolves them at this moment. Where somebody watches dispatches, Cordis
 * resolves them: it fires `internal/dispatch` meanwhile, and a throw there is a veto, and the caller's.
 */
export function listenersOf(
  { events }: Bus,
  mode: 'emit' | 'waterfall',
  carrier: object | null,
  name: string,
  args: readonly unknown[],
): readonly Listener[] {
  if (!isEmpty(events._hooks[WATCHED])) {
    return events.dispatch(mode, carrier === null ? [name, ...args] : [carrier, name, ...args]) as Listener[]
  }
  const hooks = events._hooks[name]
  return isEmpty(hooks) ? NONE : heard(hooks, carrier)
}

function isEmpty(hooks: readonly Hook[] | undefined): hooks is undefined {
  return hooks === undefined || hooks.length === 0
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
