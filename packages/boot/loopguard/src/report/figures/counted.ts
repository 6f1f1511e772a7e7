import { callIdentity, createRepeatTracker, outcomeIdentity, toolMatcher } from '@loopguard/repeat'
import { argumentsOf } from '../../audit/audit.ts'
import type { Call, Session } from '../read/session.ts'
import type { ReportOptions } from './settings.ts'

const TIMEOUT_CODE = 'TOOL_TIMEOUT'

/** A call with what it is to the guards. */
export interface CountedCall extends Call {
  /** Its place in the session, from 0. */
  readonly at: number
  /** How many equal calls in a row there were with it; 0 of a tool whose calls do not count. */
  readonly count: number
  /** A digest that equal calls share. */
  readonly identity: string
  /** A digest that equal outcomes share, but for what is volatile. */
  readonly result: string | undefined
  readonly isTimeout: boolean
  /** It failed otherwise. */
  readonly isError: boolean
}

/** Counts calls as a repeat-tool-reminder of these options does. @throws TypeError for options that it refuses. */
export function countedCalls({ calls, hasCodes }: Session, options: ReportOptions): CountedCall[] {
  const { thresholds, include = [], exclude = [], results, errors } = options
  const tracker = createRepeatTracker({ thresholds, include, exclude, results })
  const tracks = toolMatcher(include, exclude)
  const failure = errors === undefined ? undefined : new RegExp(errors, 'm')
  const identities = new Map<string, string>()
  const agent = {}
  return calls.map((call, at) => {
    const args = argumentsOf(call)
    const key = JSON.stringify([call.name, call.arguments])
    const identity = identities.get(key) ?? callIdentity(call.name, args)
    identities.set(key, identity)
    const outcome = call.outcome && { ...call.outcome, isError: call.outcome.isError || failure?.test(call.outcome.text) === true }
    if (call.afterUser) tracker.reset(agent)
    tracker.observe(agent, call.name, args, outcome)
    const isTimeout = hasCodes && call.code === TIMEOUT_CODE
    return {
      ...call,
      at,
      outcome,
      count: tracks(call.name) ? (tracker.save(agent)?.length ?? 0) : 0,
      identity,
      result: outcome && outcomeIdentity(outcome),
      isTimeout,
      isError: outcome?.isError === true && !isTimeout,
    }
  })
}
