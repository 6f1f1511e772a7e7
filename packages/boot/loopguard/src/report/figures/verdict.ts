import { counted, duration, money, number } from '../numbers.ts'
import { brief, shortened } from '../shortened.ts'
import type { Analysis } from './analysis.ts'
import type { Spared } from './caps.ts'
import type { CountedCall } from './counted.ts'
import { type Results, resultsOf, type Series } from './series.ts'

/** A piece of a sentence: plain, strong, or a call as code. */
export type Piece = string | { readonly strong: string } | { readonly call: number; readonly code: string }

type Run = NonNullable<Analysis['figures']['longestRun']>

const LONGEST_CALL = 160

/** The worst that happened in a session, in a sentence or two. */
export function verdictOf(analysis: Analysis): readonly Piece[] {
  const { figures, thresholds } = analysis
  const { longestRun, timeouts = 0, otherErrors, calls } = figures
  if (longestRun !== undefined && longestRun.length >= (thresholds[0] as number)) return runVerdict(analysis, longestRun)
  if (timeouts > 0) return timeoutVerdict(analysis, timeouts)
  const stopped = analysis.session.turns.find(({ reason }) => reason !== undefined && reason !== 'completed')
  if (stopped !== undefined) return [`Turn ${number(stopped.turn)} ended otherwise than completed: `, { strong: stopped.reason ?? '' }, '.']
  if (calls === 0) return ['No tool was called, so there is nothing that a guard could say.']
  if (otherErrors * 4 >= calls)
    return [
      { strong: `${number(otherErrors)} of ${counted(calls, 'call')} failed.` },
      ` No call was made ${times(thresholds[0] as number)} in a row.`,
    ]
  return [
    `Nothing stands out: no call was made ${times(thresholds[0] as number)} in a row${timeouts === 0 && figures.timeouts !== undefined ? ', and none timed out' : ''}.`,
  ]
}

function runVerdict(analysis: Analysis, run: Run): Piece[] {
  const { figures, series } = analysis
  return [
    { call: run.call, code: `${brief(run.name)} ${shortened(run.arguments, LONGEST_CALL)}` },
    ' was called ',
    { strong: `${times(run.length)} in a row` },
    `${resultsTold(resultsOf(callsOf(series[0], run)))}. ${actedOf(figures)}${sparedOf(figures.spared)}`,
  ]
}

function timeoutVerdict({ calls }: Analysis, timeouts: number): Piece[] {
  const [first, ...others] = calls.filter(({ isTimeout }) => isTimeout)
  if (first === undefined) return []
  const waited = [first, ...others].reduce((sum, { start, end }) => sum + end - start, 0)
  return [
    { call: first.at, code: `${brief(first.name)} ${shortened(first.arguments, LONGEST_CALL)}` },
    others.length === 0 ? ' ' : ' and other calls ',
    { strong: timeouts === 1 ? 'timed out' : `timed out ${times(timeouts)}` },
    `, after ${duration(waited)}${others.length === 0 ? '' : ' in all'}.`,
  ]
}

/** All calls that are equal to one of a run and lie between its first and its last are of the run. */
function callsOf(series: Series | undefined, { call, length }: Run): readonly CountedCall[] {
  const calls = series?.calls ?? []
  const last = calls.findIndex(({ at }) => at === call)
  return calls.slice(last - length + 1, last + 1)
}

function resultsTold({ kind, different }: Results): string {
  if (different === 0) return ''
  if (kind === 'unlike') return `, with ${number(different)} different results`
  return kind === 'same' ? ', always with the same result' : ', with results that differ in times and ids only'
}

function actedOf({ reminders, timeouts = 0 }: Analysis['figures']): string {
  const acted = [
    ...(reminders > 0 ? [`${counted(reminders, 'reminder')} followed`] : ['No reminder followed']),
    ...(timeouts > 0 ? [`${counted(timeouts, 'call')} timed out`] : []),
  ]
  return `${acted.join(', and ')}. `
}

/** An upper bound, in words. */
function sparedOf({ cap, calls, ms, inputTokens, cost }: Spared): string {
  if (calls === 0) return ''
  const what = [
    counted(calls, 'call'),
    ...(ms === undefined ? [] : [duration(ms)]),
    ...(inputTokens === undefined ? [] : [`${number(inputTokens)} input tokens${cost === undefined ? '' : ` (${money(cost)})`}`]),
  ]
  return `A cap at ${number(cap)} would have spared up to ${what.slice(0, -1).join(', ')}${what.length > 1 ? ' and ' : ''}${what.at(-1)}.`
}

function times(count: number): string {
  return count === 1 ? 'once' : count === 2 ? 'twice' : `${number(count)} times`
}

/** The same as plain text. */
export function plain(pieces: readonly Piece[]): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : 'strong' in piece ? piece.strong : piece.code)).join('')
}
