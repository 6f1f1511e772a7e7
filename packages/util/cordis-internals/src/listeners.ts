import type { Bus } from './bus.ts'

/** A callback as Cordis resolves it: bound to the carrier. */
export type Listener = (...args: unknown[]) => unknown

const NONE: readonly Listener[] = Object.freeze([])

/**
 * The listeners of one dispatch, outermost first, resolved as Cordis resolves them at this moment. It fires `internal/dispatch`
 * meanwhile: a throw there is a veto, and the caller's. An event that nobody hears, while nobody watches dispatches, costs two reads.
 */
export function listenersOf(
  { events }: Bus,
  mode: 'emit' | 'waterfall',
  carrier: object | null,
  name: string,
  args: readonly unknown[],
): readonly Listener[] {
  if (isEmpty(events._hooks[name]) && isEmpty(events._hooks['internal/dispatch'])) return NONE
  return events.dispatch(mode, carrier === null ? [name, ...args] : [carrier, name, ...args]) as Listener[]
}

function isEmpty(hooks: readonly unknown[] | undefined): boolean {
  return hooks === undefined || hooks.length === 0
}
