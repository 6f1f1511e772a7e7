import { isDeepStrictEqual } from 'node:util'
import { Context } from '@deepseek-ai/cordis'
import type { Entry } from '@deepseek-ai/cordis-plugin-loader'
import { subjectOf } from './audit.ts'
import { type Fault, lineOf } from './faults.ts'

/** Plugins that watch every call of the tools they see: a second one of them does so once more. */
const GUARDS = new Set(['budget', 'repeat-tool-reminder', 'repeated-failure-reminder', 'timeout-policy'])

export interface GuardsTwice {
  /** Guards that do the same as another row. */
  readonly faults: readonly Fault[]
  /** Guards that may be meant so, since they are set differently. */
  readonly notes: readonly string[]
}

/** Finds the guards that several active rows load for the same tools. */
export function guardsTwice(entries: Iterable<Entry>): GuardsTwice {
  const seen = new Map<string, Entry[]>()
  const faults: Fault[] = []
  const notes: string[] = []
  for (const entry of entries) {
    const name = entry.fiber?.runtime?.name
    if (name === undefined || !GUARDS.has(name)) continue
    const others = (seen.get(name) ?? []).filter((other) => toolsOf(other) === toolsOf(entry))
    seen.set(name, [...others, entry])
    const [first] = others
    if (first === undefined) continue
    const same = others.find((other) => isDeepStrictEqual(other.fiber?.config, entry.fiber?.config))
    if (same !== undefined)
      faults.push({
        ...subjectOf(entry),
        cause: `does what ${rowOf(same)} does already, with the same \`config\`: take one of the two out`,
      })
    else notes.push(lineOf({ ...subjectOf(entry), cause: `the guard is loaded by ${rowOf(first)} too: what both watch, both act on` }))
  }
  return { faults, notes }
}

function rowOf(entry: Entry): string {
  const { place, row = '' } = subjectOf(entry)
  return place === undefined ? row : `${row} (${place})`
}

/** Rows may isolate services: guards of different tools do not meet. */
function toolsOf({ fiber }: Entry): unknown {
  const ctx = fiber?.ctx as unknown as Record<symbol, Record<string, unknown>> | undefined
  return ctx?.[Context.isolate]?.['tools']
}
