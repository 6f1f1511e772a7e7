import type { RepeatConfig } from './config.ts'
import type { Reading } from './fold.ts'
import { remindIn } from './remind-in.ts'

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
  let hasWarned = false
  return (messages) => {
    try {
      return remindIn(config, messages, read, make)
    } catch (error) {
      if (!hasWarned) console.warn(`${adapter}: the messages could not be read, so the model gets no reminder of repeated calls:`, error)
      hasWarned = true
      return messages
    }
  }
}
