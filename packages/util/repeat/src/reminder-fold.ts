import type { RepeatConfig } from './config.ts'
import type { FailureConfig } from './failure-config.ts'
import { createFailureTracker, type FailureTrackerOptions } from './failure-tracker.ts'
import type { Reading, Teller } from './fold.ts'
import { Folds } from './folds.ts'
import { foldIn, remindIn } from './remind-in.ts'
import { isFailureReminder } from './text.ts'

/**
 * {@link remindIn} as an adapter hangs it into its host. The configuration is checked at once; from then on no fault of the guard fails a
 * request: the messages go out as they are, and the first time a warning on the console says so.
 *
 * @param adapter - the name of the package that warns.
 * @throws TypeError `REPEAT_TOOL_REMINDER_CONFIG` that lists every fault of `config`, one a line.
 */
export function createReminderFold<M>(
  adapter: string,
  config: RepeatConfig,
  read: (message: M) => Reading,
  make: (text: string) => M,
): (messages: M[]) => M[] {
  remindIn(config, [], read, make)
  return harmless(`${adapter}: the messages could not be read, so the model gets no reminder of repeated calls:`, (messages) =>
    remindIn(config, messages, read, make),
  )
}

/**
 * The same for repeated failures. `read` has to tell what the calls came to; a call of which it does not is passed over.
 *
 * @param options - `quiet`: the configuration of the reminder of repeated calls in the same loop.
 * @throws TypeError `REPEATED_FAILURE_REMINDER_CONFIG` that lists every fault of `config`, `REPEAT_TOOL_REMINDER_CONFIG` for those of `quiet`.
 */
export function createFailureFold<M>(
  adapter: string,
  config: FailureConfig,
  options: FailureTrackerOptions,
  read: (message: M) => Reading,
  make: (text: string) => M,
): (messages: M[]) => M[] {
  const memory = { teller: failureTeller(config, options), folds: new Folds<M>() }
  return harmless(`${adapter}: the messages could not be read, so the model gets no reminder of repeated failures:`, (messages) =>
    foldIn(memory, messages, read, make),
  )
}

function failureTeller(config: FailureConfig, options: FailureTrackerOptions): Teller {
  const tracker = createFailureTracker(config, options)
  return {
    observe: (agent, name, args, outcome, step) => (outcome === undefined ? undefined : tracker.observe(agent, name, args, outcome, step)),
    reset: (agent) => tracker.reset(agent),
    isOwn: isFailureReminder,
  }
}

function harmless<M>(warning: string, fold: (messages: M[]) => M[]): (messages: M[]) => M[] {
  let hasWarned = false
  return (messages) => {
    try {
      return fold(messages)
    } catch (error) {
      if (!hasWarned) console.warn(warning, error)
      hasWarned = true
      return messages
    }
  }
}
