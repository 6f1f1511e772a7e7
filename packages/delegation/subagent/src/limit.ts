import type { SessionEvent, TurnEndReason } from '@loopguard/session'

/** A limit of calls denies calls; it ends no turn. */
const OF_CALLS = /Calls/
/** Told once, in whichever turn it was reached first. */
const OF_AGENT = /Agent/

/**
 * The cap that a turn ended for, as `budget.<key>`: the cause of a cancel, or of a step that was rejected. Read by the shape of the
 * events, so that no cap need be there.
 */
export function limitOf(events: readonly SessionEvent[], reason: TurnEndReason | undefined): string | undefined {
  if (reason?.kind === 'aborted')
    return reason.reason.kind === 'budget' ? named((reason.reason as { readonly limit?: unknown }).limit) : undefined
  if (reason?.kind !== 'blocked') return undefined
  const start = events.findLastIndex(({ type }) => type === 'turn/start')
  for (const [index, { type, data }] of [...events.entries()].toReversed()) {
    if ((type as string) !== 'budget/reached') continue
    const { limit } = data as { readonly limit?: unknown }
    if (typeof limit === 'string' && !OF_CALLS.test(limit) && (index > start || OF_AGENT.test(limit))) return named(limit)
  }
  return undefined
}

function named(limit: unknown): string | undefined {
  return typeof limit === 'string' ? `budget.${limit}` : undefined
}
