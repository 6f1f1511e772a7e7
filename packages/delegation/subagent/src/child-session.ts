import { randomUUID } from 'node:crypto'
import type { Agent } from '@loopguard/agent-loop'
import { codeOf } from '@loopguard/kit'
import type { Session, SessionStore } from '@loopguard/session'

/** Some ids are longer than what leaves room for a number. */
const MAX_PARENT_ID_BYTES = 160

/** Of each parent, the number of the next child. */
const next = new WeakMap<Session, number>()

/**
 * Starts the session of a child, `<parent>.<n>`. Numbers that another life of the parent has used are skipped, in growing steps: a
 * parent that had ten thousand children finds a free one at the fifteenth attempt.
 * @throws what the store throws.
 */
export function openChildSession(sessions: SessionStore, parent: Agent, isTaken: (id: string) => boolean): Session {
  if (Buffer.byteLength(parent.id) > MAX_PARENT_ID_BYTES) return sessions.create(randomUUID(), { parent: parent.id })
  let number = next.get(parent.session) ?? 1
  for (let step = 1; ; step *= 2) {
    const id = `${parent.id}.${number}`
    const session = isTaken(id) ? undefined : createUnlessTaken(sessions, id, parent)
    if (session !== undefined) {
      next.set(parent.session, number + 1)
      return session
    }
    number += step
  }
}

function createUnlessTaken(sessions: SessionStore, id: string, parent: Agent): Session | undefined {
  try {
    return sessions.create(id, { parent: parent.id })
  } catch (error) {
    const code = codeOf(error)
    if (code === 'SESSION_EXISTS' || code === 'SESSION_OPEN') return undefined
    throw error
  }
}
