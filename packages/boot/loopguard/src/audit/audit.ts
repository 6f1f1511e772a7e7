import { callIdentity, outcomeIdentity, type RepeatConfig } from '@loopguard/repeat'
import { FailureRule } from './failure-rule.ts'
import { NoNewsRule } from './no-news-rule.ts'
import { Picture } from './picture.ts'
import { RepeatRule } from './repeat-rule.ts'
import { type AuditedCall, type Rule, type RuleName, RULES, type Series } from './rules.ts'
import type { Trail, TrailCall } from './trail.ts'

export interface AuditOptions extends Pick<RepeatConfig, 'thresholds' | 'include' | 'exclude' | 'results'> {
  /** Default: all. */
  readonly guards?: readonly RuleName[] | undefined
}

/** That a rule speaks, and after which call. The line `{"finding"}` of `--json`. */
export interface Finding {
  readonly guard: RuleName
  readonly agent: string
  readonly turn: number
  readonly step: number
  readonly callId: string
  readonly name: string
  /** The model's raw text. */
  readonly arguments: string
  /** How many calls of its kind there were by then: in a row, failed, or without news in a row. */
  readonly count: number
  /** How many different calls are among them. */
  readonly distinct: number
  /** Whether each of those calls had one and the same result, but for what is volatile. */
  readonly resultsEqual: boolean
  /** What the call failed with, at most 200 characters of it. */
  readonly error?: string
  readonly firstCallId: string
  /** How many more calls of this kind followed: what a model that listens would have spared. */
  readonly callsAfter: number
}

export interface Audit {
  readonly findings: readonly Finding[]
  /** The conversation on one line. */
  readonly picture: string
  readonly calls: number
  /** Calls that were equal to the tracked call before, with any results. */
  readonly repeatedCalls: number
  /** Reminders that `results: any` would have brought and `unchanged` does not; 0 under `any`. */
  readonly suppressedByResults: number
}

const MAX_ERROR_CHARS = 200

/** What the rules say of a conversation. Pure: the same trail has the same audit. */
export function audit(agent: string, trail: Trail, options: AuditOptions): Audit {
  const { thresholds, include, exclude, results, guards = RULES } = options
  const repeat: RepeatConfig = { thresholds, include, exclude, results }
  const rules: Rule[] = []
  if (guards.includes('repeat-tool-reminder')) rules.push(new RepeatRule(repeat))
  if (guards.includes('repeated-failure-reminder'))
    rules.push(new FailureRule({ include, exclude }, guards.includes('repeat-tool-reminder') ? repeat : undefined))
  if (guards.includes('no-news-run')) rules.push(new NoNewsRule(trackedBy(repeat)))
  const ungated = new RepeatRule({ ...repeat, results: 'any' })
  const gated = new RepeatRule(repeat)

  const said: { readonly rule: Rule; readonly call: AuditedCall; readonly series: Series; readonly count: number }[] = []
  const picture = new Picture()
  let [calls, suppressed] = [0, 0]
  for (const each of audited(trail)) {
    if (each === 'user') {
      for (const rule of [...rules, ungated, gated]) rule.reset()
      picture.user()
      continue
    }
    calls++
    const spoken = rules.flatMap((rule) => {
      const series = rule.look(each)
      return series === undefined ? [] : [{ rule, call: each, series, count: series.calls.length }]
    })
    said.push(...spoken)
    const [without, within] = [ungated.look(each), gated.look(each)]
    if (without !== undefined && within === undefined) suppressed++
    picture.call(
      each,
      spoken.some(({ rule }) => rule.name !== 'no-news-run'),
    )
  }
  const findings = said.map(({ rule, call, series, count }) => findingOf(agent, rule.name as RuleName, call, series.calls, count))
  return { findings, picture: picture.line, calls, repeatedCalls: ungated.repeated, suppressedByResults: suppressed }
}

function findingOf(agent: string, guard: RuleName, call: AuditedCall, all: readonly AuditedCall[], count: number): Finding {
  const { turn, step, callId, name, arguments: raw, outcome } = call
  const series = all.slice(0, count)
  const results = new Map<string, Set<string>>()
  for (const { identity, result } of series) results.set(identity, (results.get(identity) ?? new Set()).add(result))
  return {
    guard,
    agent,
    turn,
    step,
    callId,
    name,
    arguments: raw,
    count,
    distinct: results.size,
    resultsEqual: [...results.values()].every(({ size }) => size === 1),
    ...(outcome.isError && { error: outcome.text.slice(0, MAX_ERROR_CHARS).replace(/[\ud800-\udbff]$/, '') }),
    firstCallId: (series[0] as AuditedCall).callId,
    callsAfter: all.length - count,
  }
}

function audited(trail: Trail): (AuditedCall | 'user')[] {
  const steps = new Map<string, { calls: { name: string; args: unknown }[] }>()
  return trail.map((each) => {
    if (each === 'user') return each
    const args = argumentsOf(each)
    const place = `${each.turn} ${each.step}`
    const stepCalls = steps.get(place) ?? { calls: [] }
    steps.set(place, stepCalls)
    stepCalls.calls.push({ name: each.name, args })
    return { ...each, args, identity: callIdentity(each.name, args), result: outcomeIdentity(each.outcome), stepCalls }
  })
}

/** As a loop reads them: no text means no arguments, and text that is no JSON stays text. */
export function argumentsOf({ arguments: raw }: Pick<TrailCall, 'arguments'>): unknown {
  try {
    return raw === '' ? {} : JSON.parse(raw)
  } catch {
    return raw
  }
}

/** Which tools a configuration lets count. */
function trackedBy(config: RepeatConfig): (tool: string) => boolean {
  const known = new Map<string, boolean>()
  return (tool) => {
    const isTracked = known.get(tool) ?? new RepeatRule({ ...config, thresholds: [2] }).tracks(tool)
    known.set(tool, isTracked)
    return isTracked
  }
}
