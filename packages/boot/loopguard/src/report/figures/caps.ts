import type { ModelRequest, Session } from '../read/session.ts'
import { busyMs } from './busy.ts'
import type { CountedCall } from './counted.ts'
import { costOf, type Prices } from './prices.ts'

/** What a cap on equal calls in a row would have spared at most. */
export interface Spared {
  readonly cap: number
  readonly calls: number
  /** Requests whose answers called nothing else. */
  readonly requests: number
  /** `undefined` where no times were recorded. */
  readonly ms: number | undefined
  /** `undefined` where no tokens were recorded. */
  readonly inputTokens: number | undefined
  readonly outputTokens: number | undefined
  readonly cost: number | undefined
}

const [LEAST, MOST] = [2, 50]

/** For each cap that there is something to say of, from 2 on: ten at least, and up to the longest run. */
export function sparedBy(session: Session, calls: readonly CountedCall[], prices: Prices | undefined): Spared[] {
  const longest = calls.reduce((most, { count }) => Math.max(most, count), 0)
  const last = Math.min(MOST, Math.max(10, longest))
  return Array.from({ length: last - LEAST + 1 }, (_none, index) => sparedAt(session, calls, LEAST + index, prices))
}

export function sparedAt(session: Session, calls: readonly CountedCall[], cap: number, prices: Prices | undefined): Spared {
  const isSpared = ({ count }: CountedCall): boolean => count > cap
  const requests = session.requests.filter((request) => {
    const made = request.calls.map((at) => calls[at] as CountedCall)
    // Bookkeeping beside a call that is not made has nothing to keep.
    return made.some(isSpared) && made.every((call) => isSpared(call) || call.count === 0)
  })
  const told = requests.filter(({ usage }) => usage !== undefined)
  // Nothing spared is no token; requests that do not say theirs are.
  const isTold = requests.length === 0 ? session.requests.some(({ usage }) => usage !== undefined) : told.length > 0
  const sum = (of: (usage: NonNullable<ModelRequest['usage']>) => number): number | undefined =>
    isTold ? told.reduce((total, { usage }) => total + (usage === undefined ? 0 : of(usage)), 0) : undefined
  return {
    cap,
    calls: calls.filter(isSpared).length,
    requests: requests.length,
    ms: session.startedAt === undefined ? undefined : busyMs(requests.map(({ start, stepEnd }) => ({ start, end: stepEnd }))),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    cost: prices === undefined ? undefined : costAt(session.requests, requests, prices),
  }
}

/** Nothing spared costs nothing, if there are prices at all. */
function costAt(all: readonly ModelRequest[], spared: readonly ModelRequest[], prices: Prices): number | undefined {
  return costOf(all, prices).sum === undefined ? undefined : (costOf(spared, prices).sum ?? 0)
}
