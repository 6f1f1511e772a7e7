import { isDeepStrictEqual } from 'node:util'
import type { LlmFailure } from '@loopguard/llm'
import type { Session, SessionEvent } from '@loopguard/session'

type Failed = SessionEvent<'request/failed'>

/** What the companion knows of attempts that failed: each must stand in the log, numbered, before anybody is asked about it. */
export class FailedAttempts {
  /** Position in the log of the last one that somebody was asked about. */
  private readonly asked = new WeakMap<Session, number>()

  /** What is wrong with the log at the moment at which listeners are asked about `failure`. */
  complaint(session: Session, failure: LlmFailure): string | undefined {
    const failed = ofOpenStep(session.events)
    const last = failed[0]
    if (last === undefined || last.seq <= (this.asked.get(session) ?? -1) || !isDeepStrictEqual(last.data.failure, failure))
      return `a request failed (${failure.code}) and no request/failed says so`
    this.asked.set(session, last.seq)
    const { attempt } = last.data
    return attempt === failed.length ? undefined : `request/failed says attempt ${attempt}, it is ${failed.length}`
  }
}

/** Latest first. */
function ofOpenStep(events: readonly SessionEvent[]): Failed[] {
  const failed: Failed[] = []
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index] as SessionEvent
    if (event.type === 'step/start') break
    if (event.type === 'request/failed') failed.push(event)
  }
  return failed
}
