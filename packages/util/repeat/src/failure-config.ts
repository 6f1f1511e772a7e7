import {
  expressionFaults,
  faultFinder,
  type FaultFinder,
  flagFaults,
  patternFaults,
  previewFaults,
  refuse,
  thresholdFaults,
} from './config-faults.ts'
import type { Outcome } from './outcome.ts'
import { type Matcher, trackerOf } from './pattern.ts'

/** How the reminder of repeated failures is set. A key left out or `undefined` means the default; an unknown key and a `null` are refused. */
export interface FailureConfig {
  /** Numbers of failures at which the model is reminded: integers >= 2, at least one, none twice, in any order. Default `[3, 5]`. */
  readonly thresholds?: readonly number[] | undefined
  /** Names of the tools whose failures count; `*` stands for any run of characters. Empty, the default, means all tools. */
  readonly include?: readonly string[] | undefined
  /** Names of tools whose failures do not count, included or not. Default: none. */
  readonly exclude?: readonly string[] | undefined
  /** How many code points of the arguments a reminder shows: an integer >= 1. Default `500`. */
  readonly argumentsPreviewChars?: number | undefined
  /** How many code points of the error a reminder shows: an integer >= 1. Default `200`. */
  readonly errorPreviewChars?: number | undefined
  /** Whether errors that differ in what is volatile alone are the same. Default `true`. */
  readonly maskVolatile?: boolean | undefined
  /**
   * A regular expression (JavaScript's, flag `m`): a result in which it finds something is a failure, though the tool calls it none. Left
   * out, results that are errors are the failures.
   */
  readonly errors?: string | undefined
}

/** A configuration, checked and compiled. */
export interface FailureSettings {
  readonly thresholds: ReadonlySet<number>
  readonly tracks: Matcher
  readonly previewChars: number
  readonly errorChars: number
  readonly masks: boolean
  readonly hasFailed: (outcome: Outcome) => boolean
}

export const failureConfigFaults: FaultFinder = faultFinder('repeated-failure-reminder', {
  thresholds: thresholdFaults,
  include: patternFaults,
  exclude: patternFaults,
  argumentsPreviewChars: previewFaults,
  errorPreviewChars: previewFaults,
  maskVolatile: flagFaults,
  errors: expressionFaults,
})

/** @throws TypeError `REPEATED_FAILURE_REMINDER_CONFIG` that lists every fault, one a line. */
export function failureSettingsOf(config: FailureConfig): FailureSettings {
  refuse(failureConfigFaults(config), 'REPEATED_FAILURE_REMINDER_CONFIG')
  const { thresholds = [3, 5], include = [], exclude = [], maskVolatile: masks = true, errors } = config
  const { argumentsPreviewChars: previewChars = 500, errorPreviewChars: errorChars = 200 } = config
  const expression = errors === undefined ? undefined : new RegExp(errors, 'm')
  return {
    thresholds: new Set(thresholds),
    tracks: trackerOf(include, exclude),
    previewChars,
    errorChars,
    masks,
    hasFailed: ({ isError, text }) => isError || expression?.test(text) === true,
  }
}
