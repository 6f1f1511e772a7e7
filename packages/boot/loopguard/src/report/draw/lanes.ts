import type { CountedCall } from '../figures/counted.ts'

const MOST_LANES = 4

/** Where in its row a call is drawn: calls of a row that overlap lie below one another. */
interface Placed {
  readonly call: CountedCall
  readonly lane: number
  /** How many there are in its row. */
  readonly lanes: number
}

export function lanesOf(calls: readonly CountedCall[], rowOf: (name: string) => number): Placed[] {
  const ends = new Map<number, number[]>()
  const placed = calls.map((call) => {
    const row = rowOf(call.name)
    const busy = ends.get(row) ?? []
    ends.set(row, busy)
    const free = busy.findIndex((end) => end <= call.start)
    const lane = free >= 0 ? free : Math.min(busy.length, MOST_LANES - 1)
    busy[lane] = Math.max(call.end, busy[lane] ?? 0)
    return { call, lane, row }
  })
  return placed.map(({ call, lane, row }) => ({ call, lane, lanes: ends.get(row)?.length ?? 1 }))
}
