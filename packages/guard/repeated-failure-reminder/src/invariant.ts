import {
  changeOf,
  type GuardInPlace,
  isList,
  keyOf,
  matches,
  type Recount,
  type RecountedCall,
  reminderCompanion,
  seenOf,
  type Seen,
} from '@loopguard/advisory/companion'
import type { Companion } from '@loopguard/invariants/companion'

const NAME = 'repeated-failure-reminder'
const MAX_CALLS = 64

/** How often a call has failed with the error that was seen last; `NaN` when that cannot be said. */
interface Failure {
  readonly seen: Seen
  readonly count: number
}

/** What is known of an agent since its user spoke: its failing calls, the latest last, and its run, by the reminder that counts it. */
interface Known {
  readonly guard: GuardInPlace | undefined
  readonly failures: Map<string, Failure>
  readonly runs: Map<GuardInPlace, { readonly key: string; readonly length: number }>
}

const plugin: Companion = reminderCompanion(NAME, `@loopguard/${NAME}`, (): Recount => {
  const agents = new WeakMap<object, Known>()
  const isDue = (call: RecountedCall): boolean | undefined => {
    const { agent, name: tool, args, guard } = call
    const { thresholds, maskVolatile, errors } = guard?.config ?? {}
    const [known, key, outcome, isMeant] = [agents.get(agent), keyOf(tool, args), call.outcome(), meant(guard, tool)]
    const isKnown = known !== undefined && known.guard === guard && isMeant !== undefined && isList<number>(thresholds)
    if (!isKnown || key === undefined || outcome === undefined) return void agents.delete(agent)
    const isSpokenOf = spokenOf(known, key, call)
    if (!isMeant) return false
    const { failures } = known
    const last = failures.get(key)
    failures.delete(key)
    const hasFailed = outcome.isError || (typeof errors === 'string' && new RegExp(errors, 'm').test(outcome.text))
    if (!hasFailed) return false
    const seen = seenOf({ isError: true, text: outcome.text })
    const count = last === undefined ? 1 : grown(last, seen, maskVolatile !== false)
    if (failures.size === MAX_CALLS) failures.delete([...failures.keys()][0] as string)
    failures.set(key, { seen, count })
    if (thresholds.includes(count)) return isSpokenOf === undefined ? undefined : !isSpokenOf
    return Number.isNaN(count) ? undefined : false
  }
  return {
    isDue,
    startAfresh: (agent, guard) => void agents.set(agent, { guard, failures: new Map(), runs: new Map() }),
    lose: (agent) => void agents.delete(agent),
  }
})

/** Whether calls of a tool count; `undefined` for a configuration that is not understood, that of another plugin of that name say. */
function meant(guard: GuardInPlace | undefined, tool: string): boolean | undefined {
  const { include, exclude } = guard?.config ?? {}
  if (!isList<string>(include) || !isList<string>(exclude)) return undefined
  const isIt = (pattern: string): boolean => matches(pattern, tool)
  return (include.length === 0 || include.some(isIt)) && !exclude.some(isIt)
}

/** How often the call has failed with this error; `NaN` when the errors differ in what may be masked. */
function grown(last: Failure, seen: Seen, masks: boolean): number {
  const change = changeOf(last.seen, seen)
  if (change === 'unknown' && masks) return NaN
  return change === 'same' ? last.count + 1 : 1
}

/** Whether a reminder of repeated calls speaks of this call; `undefined` when that cannot be said. */
function spokenOf(known: Known, key: string, { name: tool, beside, step }: RecountedCall): boolean | undefined {
  let isSpokenOf: boolean | undefined = false
  for (const other of beside('repeat-tool-reminder')) {
    const { thresholds, results } = other.config
    if (meant(other, tool) !== true || !isList<number>(thresholds)) continue
    const last = known.runs.get(other)
    const length = last?.key === key ? last.length + 1 : 1
    known.runs.set(other, { key, length })
    // A run of calls with equal results is no longer than one of any calls, and may begin anew. In this step it may have been, or become, longer.
    const isTwice = (step?.calls ?? []).filter((call) => keyOf(call.name, call.args) === key).length > 1
    if (length >= Math.min(...thresholds) && results !== 'unchanged') return true
    if (length >= Math.min(...thresholds) || isTwice) isSpokenOf = undefined
  }
  return isSpokenOf
}

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Recounts the failures of each agent with a model of its own: each reminder must come when it is due, and stand in the log. */
export const apply: Companion['apply'] = plugin.apply
