import { audit, type Finding } from '../../audit/audit.ts'
import type { TrailCall } from '../../audit/trail.ts'
import type { Session } from '../read/session.ts'
import { sparedBy, type Spared } from './caps.ts'
import { type CountedCall, countedCalls } from './counted.ts'
import { type Figures, figuresOf } from './figures.ts'
import type { Prices } from './prices.ts'
import { type Series, seriesOf, tonesOf } from './series.ts'
import { type ReportOptions, thresholdsOf } from './settings.ts'

/** That a rule speaks, after which call. */
interface Spoken extends Finding {
  /** The place of the call. */
  readonly call: number
}

/** A session and all that a report says of it. */
export interface Analysis {
  /** What it is called: the name of its file, or its id. */
  readonly name: string
  readonly session: Session
  readonly calls: readonly CountedCall[]
  readonly series: readonly Series[]
  /** The colours of calls, by identity. */
  readonly tones: ReadonlyMap<string, number>
  readonly figures: Figures
  /** From the least cap on. */
  readonly spared: readonly Spared[]
  readonly thresholds: readonly number[]
  /** What the rules say, whether a guard was there or not. */
  readonly spoken: readonly Spoken[]
}

export function analysisOf(name: string, session: Session, options: ReportOptions, prices: Prices | undefined): Analysis {
  const calls = countedCalls(session, options)
  const series = seriesOf(calls)
  return {
    name,
    session,
    calls,
    series,
    tones: tonesOf(series),
    figures: figuresOf(session, calls, series, options, prices),
    spared: sparedBy(session, calls, prices),
    thresholds: thresholdsOf(options),
    spoken: spokenIn(calls, options),
  }
}

/** Calls go by their places, since models give one id to several now and then. */
function spokenIn(calls: readonly CountedCall[], options: ReportOptions): Spoken[] {
  const trail = calls.flatMap((call): (TrailCall | 'user')[] => {
    const { at, turn, step, name, outcome, afterUser } = call
    const user = afterUser ? (['user'] as const) : []
    return outcome === undefined ? [...user] : [...user, { turn, step, callId: String(at), name, arguments: call.arguments, outcome }]
  })
  return audit('', trail, options).findings.map((finding) => ({ ...finding, call: Number(finding.callId) }))
}
