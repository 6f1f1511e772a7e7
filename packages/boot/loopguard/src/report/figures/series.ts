import type { CountedCall } from './counted.ts'

/** All calls of a session that are equal, whether in a row or not. */
export interface Series {
  readonly identity: string
  readonly calls: readonly CountedCall[]
  /** The longest run; 0 of calls that do not count. */
  readonly longest: number
  readonly results: Results
}

/** How results of equal calls compare. `unlike` are different, `masked` differ in what is volatile only. */
export interface Results {
  readonly kind: 'same' | 'masked' | 'unlike'
  readonly different: number
}

/** The longest run first; of equal ones, the one that was made more often. */
export function seriesOf(calls: readonly CountedCall[]): Series[] {
  const groups = new Map<string, CountedCall[]>()
  for (const call of calls) {
    const group = groups.get(call.identity)
    if (group === undefined) groups.set(call.identity, [call])
    else group.push(call)
  }
  return [...groups]
    .map(([identity, group]) => ({
      identity,
      calls: group,
      longest: group.reduce((most, { count }) => Math.max(most, count), 0),
      results: resultsOf(group),
    }))
    .toSorted((a, b) => b.longest - a.longest || b.calls.length - a.calls.length)
}

export function resultsOf(calls: readonly CountedCall[]): Results {
  const told = calls.filter(({ outcome }) => outcome !== undefined)
  const different = new Set(told.map(({ result }) => result)).size
  if (different > 1) return { kind: 'unlike', different }
  const exact = new Set(told.map(({ outcome }) => outcome?.text)).size
  return { kind: exact > 1 ? 'masked' : 'same', different }
}

/** Runs that have a colour of their own. */
const TONES = 8

/** The colour of a call: 0 for one that was never repeated, then by the length of the longest run; the last is shared. */
export function tonesOf(series: readonly Series[]): ReadonlyMap<string, number> {
  const repeated = series.filter(({ longest }) => longest > 1)
  return new Map(repeated.map(({ identity }, index) => [identity, Math.min(index, TONES) + 1]))
}
