import { type RepeatConfig, settingsOf } from './config.ts'
import { type FailureConfig, failureSettingsOf } from './failure-config.ts'
import { FailureBook, type Failures } from './failures.ts'
import { callIdentity } from './identity.ts'
import { type Outcome, outcomeIdentity } from './outcome.ts'
import { QuietRuns, type StepCalls } from './quiet-runs.ts'
import { failureText } from './text.ts'

export type { StepCalls } from './quiet-runs.ts'

/** Counts, for each agent, the failures of one call with one error, also with other calls between. An agent is any object. */
export interface FailureTracker {
  /**
   * Counts a call, in the order in which the model made them. A success of a call that has failed forgets it, and so does another error.
   *
   * @param step - all calls of the step; the same object for each of them. With it, a call that stands several times in one step is not
   * spoken of here when the reminder of {@link FailureTrackerOptions.quiet} speaks of it in that step.
   * @returns the reminder that is due after the results of this step.
   * @throws what reading the arguments throws, which JSON never does.
   */
  observe(agent: object, name: string, args: unknown, outcome: Outcome, step?: StepCalls): string | undefined
  /** The user has spoken, or the agent starts afresh: all is forgotten. */
  reset(agent: object): void
  /** For hosts whose steps are processes: digests and numbers, of which no argument and no error can be read. */
  save(agent: object): Failures | undefined
  /** @throws TypeError `REPEAT_BAD_CHAIN` for what `save` did not give. */
  load(agent: object, failures: Failures): void
}

export interface FailureTrackerOptions {
  /**
   * The configuration of a repeat-tool-reminder beside this one. While the run of a call is at or above its first threshold, that reminder
   * speaks of the call, and this one does not. A function is asked at each call, and may name several; a run belongs to the object.
   */
  readonly quiet?: RepeatConfig | (() => readonly RepeatConfig[]) | undefined
}

/**
 * @throws TypeError `REPEATED_FAILURE_REMINDER_CONFIG` that lists every fault of `config`, `REPEAT_TOOL_REMINDER_CONFIG` for those of `quiet`.
 */
export function createFailureTracker(config: FailureConfig = {}, { quiet }: FailureTrackerOptions = {}): FailureTracker {
  const { thresholds, tracks, previewChars, errorChars, masks, hasFailed } = failureSettingsOf(config)
  if (typeof quiet === 'object') settingsOf(quiet)
  const quietRuns = new QuietRuns(typeof quiet === 'function' ? quiet : () => (quiet === undefined ? [] : [quiet]))
  const book = new FailureBook()
  return {
    observe(agent, name, args, outcome, step) {
      const isQuiet = quietRuns.count(agent, name, args, outcome, step)
      if (!tracks(name)) return undefined
      if (!hasFailed(outcome)) {
        if (!book.isEmpty(agent)) book.forgetCall(agent, callIdentity(name, args))
        return undefined
      }
      const { text } = outcome
      const count = book.count(agent, callIdentity(name, args), outcomeIdentity({ isError: true, text }, masks))
      if (!thresholds.has(count) || isQuiet()) return undefined
      return failureText(name, args, text, count, { previewChars, errorChars })
    },
    reset(agent) {
      book.forget(agent)
      quietRuns.forget(agent)
    },
    save(agent) {
      const [failures, run] = [book.list(agent), quietRuns.save(agent)]
      return failures.length === 0 && run === undefined ? undefined : { failures, ...(run !== undefined && { run }) }
    },
    load(agent, saved) {
      const { failures, run } = Object(saved) as Partial<Failures>
      book.load(agent, failures)
      quietRuns.load(agent, run)
    },
  }
}
