import { type ListSessionsRequest, type ListSessionsResponse, RequestError, type SessionInfo } from '@agentclientprotocol/sdk'
import type { SessionId } from '@loopguard/llm'
import type { SessionEvent, SessionStore, StoredSession } from '@loopguard/session'

/** How many logs are read for one answer. */
const PAGE = 50

/**
 * The conversations that can be loaded, the latest first; those of child agents are none. A page may be shorter than the next.
 * @throws RequestError for a cursor that was not given out.
 */
export async function listed(sessions: SessionStore, { cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
  const stored = (await sessions.stored()).toSorted((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1))
  const start = cursor === undefined || cursor === null ? 0 : placeAfter(stored, cursor)
  const page = stored.slice(start, start + PAGE)
  const infos = await Promise.all(page.map((session) => infoOf(sessions, session)))
  const last = page.at(-1)
  return {
    sessions: infos.filter((info) => info !== undefined).filter((info) => cwd === undefined || cwd === null || info.cwd === cwd),
    ...(last !== undefined && start + PAGE < stored.length && { nextCursor: `${last.updatedAt}/${last.id}` }),
  }
}

/** The session that this one was started from. */
export function parentOf([start]: readonly SessionEvent[]): SessionId | undefined {
  return start?.type === 'session/start' ? start.data.parent : undefined
}

/** A session that has grown since is not told twice: it stands in front of the cursor. */
function placeAfter(stored: readonly StoredSession[], cursor: string): number {
  const [, time, id] = /^(\d+)\/(.+)$/s.exec(cursor) ?? []
  if (time === undefined || id === undefined) throw RequestError.invalidParams({ cursor }, 'unknown cursor')
  const place = stored.findIndex((other) => other.updatedAt < Number(time) || (other.updatedAt === Number(time) && other.id > id))
  return place < 0 ? stored.length : place
}

/** Undefined for what cannot be loaded. */
async function infoOf(sessions: SessionStore, { id, updatedAt, title }: StoredSession): Promise<SessionInfo | undefined> {
  const events = await sessions.read(id).catch(() => undefined)
  if (events === undefined || parentOf(events) !== undefined) return undefined
  const opened = events.findLast(({ type }) => type === 'acp/opened') as SessionEvent<'acp/opened'> | undefined
  return {
    sessionId: id,
    cwd: opened?.data.cwd ?? process.cwd(),
    updatedAt: new Date(updatedAt).toISOString(),
    ...(title !== undefined && { title }),
  }
}
