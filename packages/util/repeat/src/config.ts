import { choiceFaults, faultFinder, type FaultFinder, patternFaults, previewFaults, refuse, thresholdFaults } from './config-faults.ts'
import { type Matcher, trackerOf } from './pattern.ts'

/** How the reminder is set. A key left out or `undefined` means the default; an unknown key and a `null` are refused. */
export interface RepeatConfig {
  /** Run lengths at which the model is reminded: integers >= 2, at least one, none twice, in any order. Default `[3, 5, 8]`. */
  readonly thresholds?: readonly number[] | undefined
  /** Names of the tools whose calls count; `*` stands for any run of characters. Empty, the default, means all tools. */
  readonly include?: readonly string[] | undefined
  /** Names of tools whose calls neither count nor end a run, included or not. Default: none. */
  readonly exclude?: readonly string[] | undefined
  /** How many code points of the arguments a detailed reminder shows: an integer >= 1. Default `500`. */
  readonly argumentsPreviewChars?: number | undefined
  /**
   * `'unchanged'`: a call counts on only if its result equals that of the call before, but for what is volatile. `'any'`, the default: equal
   * calls count with any results.
   */
  readonly results?: 'any' | 'unchanged' | undefined
}

/** A configuration, checked and compiled. */
export interface Settings {
  readonly thresholds: ReadonlySet<number>
  readonly first: number
  readonly tracks: Matcher
  readonly previewChars: number
  readonly comparesResults: boolean
}

export const repeatConfigFaults: FaultFinder = faultFinder('repeat-tool-reminder', {
  thresholds: thresholdFaults,
  include: patternFaults,
  exclude: patternFaults,
  argumentsPreviewChars: previewFaults,
  results: choiceFaults('any', 'unchanged'),
})

/** @throws TypeError `REPEAT_TOOL_REMINDER_CONFIG` that lists every fault, one a line. */
export function settingsOf(config: RepeatConfig): Settings {
  refuse(repeatConfigFaults(config), 'REPEAT_TOOL_REMINDER_CONFIG')
  const { thresholds = [3, 5, 8], include = [], exclude = [], argumentsPreviewChars: previewChars = 500, results } = config
  return {
    thresholds: new Set(thresholds),
    first: Math.min(...thresholds),
    tracks: trackerOf(include, exclude),
    previewChars,
    comparesResults: results === 'unchanged',
  }
}
