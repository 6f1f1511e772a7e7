import {
  changeOf,
  type GuardInPlace,
  isList,
  keyOf,
  matches,
  type Recount,
  reminderCompanion,
  seenOf,
  type Seen,
} from '@loopguard/advisory/companion'
import type { Companion } from '@loopguard/invariants/companion'
import type { Outcome } from '@loopguard/repeat'

const NAME = 'repeat-tool-reminder'

interface Run {
  readonly guard: GuardInPlace | undefined
  readonly key: string | undefined
  readonly length: number
  /** Its last result where results are compared; `null` if that could not be read. */
  readonly seen: Seen | null | undefined
}

const plugin: Companion = reminderCompanion(NAME, `@loopguard/${NAME}`, (): Recount => {
  /** The last calls of an agent that a guard has counted. */
  const runs = new WeakMap<object, Run>()
  return {
    isDue({ agent, name: tool, args, outcome, guard }) {
      const { thresholds, include, exclude, results } = guard.config
      // Another plugin of that name may have other rules.
      if (!isList<number>(thresholds) || !isList<string>(include) || !isList<string>(exclude)) return void runs.delete(agent)
      const isMeant = (pattern: string): boolean => matches(pattern, tool)
      if ((include.length > 0 && !include.some(isMeant)) || exclude.some(isMeant)) return false
      const last = runs.get(agent)
      const key = keyOf(tool, args)
      const seen = results === 'unchanged' ? seenIn(outcome()) : undefined
      const isKnown = last?.guard === guard && last?.key !== undefined && key !== undefined && seen !== null
      const length = !isKnown ? NaN : key !== last.key ? 1 : grown(last, seen)
      runs.set(agent, { guard, key, length, seen })
      return Number.isNaN(length) ? undefined : thresholds.includes(length)
    },
    startAfresh: (agent, guard) => void runs.set(agent, { guard, key: '', length: 0, seen: undefined }),
    lose: (agent) => void runs.delete(agent),
  }
})

const seenIn = (outcome: Outcome | undefined): Seen | null => (outcome === undefined ? null : seenOf(outcome))

/** The run after the same call again; `NaN` when its results differ in what may be masked, or could not be read. */
function grown({ length, seen: last }: Run, next: Seen | undefined): number {
  // Results are not compared.
  if (next === undefined) return length + 1
  const change = last ? changeOf(last, next) : 'unknown'
  if (change === 'unknown') return NaN
  return change === 'same' ? length + 1 : 1
}

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Recounts the calls of each agent with a model of its own: each reminder must come when it is due, and stand in the log. */
export const apply: Companion['apply'] = plugin.apply
