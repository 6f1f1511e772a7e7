import type { LogEvent } from './log-events.ts'

/** A limit that was reached, and where. */
export interface LimitRecord {
  readonly agent: string
  readonly turn: number
  readonly step: number
  readonly limit: string
  readonly value: number
}

const OF_CALLS = /Calls/
const OF_AGENT = /^max(?:.*Per)?Agent/

/** The limit that kept a turn from its next step: one that was reached in it, or one of the agent, which is told once. */
export function blockingLimit(events: readonly LogEvent[], turn: number): string | undefined {
  const last = events.findLast(
    ({ type, data }) => type === 'budget/reached' && !OF_CALLS.test(data.limit) && (data.turn === turn || OF_AGENT.test(data.limit)),
  )
  return last?.type === 'budget/reached' ? last.data.limit : undefined
}
