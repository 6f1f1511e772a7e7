import type { Session } from '@loopguard/session'

interface Count {
  read: number
  readonly ids: Set<string>
  readonly highest: Map<string, number>
}

const counts = new WeakMap<Session, Count>()

/** The number of the next job of that kind, counted from the log: it goes on over a restart. */
export function nextNumber(session: Session, kind: string): number {
  return (countOf(session).highest.get(kind) ?? 0) + 1
}

/** Whether the log says that there was such a job. */
export function wasStarted(session: Session, id: string): boolean {
  return countOf(session).ids.has(id)
}

/** Reads only what is new in the log. */
function countOf(session: Session): Count {
  let count = counts.get(session)
  if (count === undefined) counts.set(session, (count = { read: 0, ids: new Set(), highest: new Map() }))
  for (; count.read < session.events.length; count.read++) {
    const event = session.events[count.read]
    if (event?.type !== 'job/start') continue
    const { id, kind } = event.data
    count.ids.add(id)
    count.highest.set(kind, Math.max(count.highest.get(kind) ?? 0, Number(id.slice(kind.length + 1)) || 0))
  }
  return count
}
