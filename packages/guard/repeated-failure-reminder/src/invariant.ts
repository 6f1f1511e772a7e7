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
  watchSteps,
} from '@loopguard/advisory/companion'
import type { Companion } from '@loopguard/invariants/companion'
import type { StepCalls } from '@loopguard/repeat'

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

const plugin: Companion = reminderCompanion(NAME, `@loopguard/${NAME}`, (ctx): Recount => {
  const agents = new WeakMap<object, Known>()
  const stepOf = watchSteps(ctx)
  const isDue = (call: RecountedCall): boolean | undefined => {
    const { agent, name: tool, args, guard } = call
    const { thresholds, maskVolatile, errors } = guard.config
    const known = agents.get(agent)
    const isMeant = meant(guard, tool)
    const isKnown = known !== undefined && known.guard === guard && isMeant !== undefined && isList<number>(thresholds)
    const [key, outcome] = isKnown ? [keyOf(tool, args), call.outcome()] : []
    if (!isKnown || key === undefined || outcome === undefined) return void agents.delete(agent)
    const runs = runsOf(known, key, call)
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
    if (thresholds.includes(count)) {
      const isSpokenOf = spokenOf(runs, key, stepOf(agent))
      return isSpokenOf === undefined ? undefined : !isSpokenOf
    }
    return Number.isNaN(count) ? undefined : false
  }
  return {
    isDue,
    startAfresh: (agent, guard) => void agents.set(agent, { guard, failures: new Map(), runs: new Map() }),
    lose: (agent) => void agents.delete(agent),
  }
})

/** Whether calls of a tool count; `undefined` for a configuration that is not understood, that of another plugin of that name say. */
function meant({ config }: GuardInPlace, tool: string): boolean | undefined {
  const { include, exclude } = config
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

/** By a reminder of repeated calls. */
interface RunBeside {
  /** Its lowest threshold is reached. */
  readonly isReached: boolean
  /** The run is no longer than one of any calls, and may begin anew. */
  readonly needsEqualResults: boolean
}

/** The runs that this call goes on with, by each reminder of repeated calls that counts it. */
function runsOf(known: Known, key: string, { name: tool, beside }: RecountedCall): readonly RunBeside[] {
  return beside('repeat-tool-reminder').flatMap((other) => {
    const { thresholds, results } = other.config
    if (meant(other, tool) !== true || !isList<number>(thresholds)) return []
    const last = known.runs.get(other)
    const length = last?.key === key ? last.length + 1 : 1
    known.runs.set(other, { key, length })
    return { isReached: length >= Math.min(...thresholds), needsEqualResults: results === 'unchanged' }
  })
}

/** Whether a reminder of repeated calls speaks of this call; `undefined` when that cannot be said. */
function spokenOf(runs: readonly RunBeside[], key: string, step: StepCalls | undefined): boolean | undefined {
  if (runs.some(({ isReached, needsEqualResults }) => isReached && !needsEqualResults)) return true
  // In this step the call may have been, or become, longer.
  const isTwice = (): boolean => (step?.calls ?? []).filter((call) => keyOf(call.name, call.args) === key).length > 1
  return runs.length > 0 && (runs.some(({ isReached }) => isReached) || isTwice()) ? undefined : false
}

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Recounts the failures of each agent with a model of its own: each reminder must come when it is due, and stand in the log. */
export const apply: Companion['apply'] = plugin.apply
