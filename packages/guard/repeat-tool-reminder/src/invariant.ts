import { changeOf, isList, keyOf, matches, outcomeOf, type Recount, type RecountedCall, reminderCompanion, seenOf, type Seen } from '@loopguard/advisory/companion'
import type { Companion } from '@loopguard/invariants/companion'

const NAME = 'repeat-tool-reminder'

interface Run {
  readonly guard: RecountedCall['guard']
  readonly key: string | undefined
  readonly length: number
  readonly seen: Seen | undefined
}

const plugin: Companion = reminderCompanion(NAME, `@loopguard/${NAME}`, (): Recount => {
  /** The last calls of an agent that a guard has counted. */
  const runs = new WeakMap<object, Run>()
  return {
    isDue({ agent, name: tool, args, result, guard }) {
      const { thresholds, include, exclude, results } = guard?.config ?? {}
      // Another plugin of that name may have other rules.
      if (!isList<number>(thresholds) || !isList<string>(include) || !isList<string>(exclude)) return void runs.delete(agent)
      const isMeant = (pattern: string): boolean => matches(pattern, tool)
      if ((include.length > 0 && !include.some(isMeant)) || exclude.some(isMeant)) return false
      const outcome = results === 'unchanged' ? outcomeOf(result) : undefined
      const [last, key, seen] = [runs.get(agent), keyOf(tool, args), outcome && seenOf(outcome)]
      const isKnown = last?.guard === guard && last?.key !== undefined && key !== undefined
      const length = !isKnown ? NaN : key !== last.key ? 1 : grown(last, seen)
      runs.set(agent, { guard, key, length, seen })
      return Number.isNaN(length) ? undefined : thresholds.includes(length)
    },
    startAfresh: (agent, guard) => void runs.set(agent, { guard, key: '', length: 0, seen: undefined }),
    lose: (agent) => void runs.delete(agent),
  }
})

/** The run after the same call again; `NaN` when its results differ in what may be masked. */
function grown(last: Run, seen: Seen | undefined): number {
  const change = last.seen === undefined || seen === undefined ? 'same' : changeOf(last.seen, seen)
  if (change === 'unknown') return NaN
  return change === 'same' ? last.length + 1 : 1
}

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Recounts the calls of each agent with a model of its own: each reminder must come when it is due, and stand in the log. */
export const apply: Companion['apply'] = plugin.apply
