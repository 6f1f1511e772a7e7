import { createFailureFold, createReminderFold, type FailureConfig, type RepeatConfig } from '@loopguard/repeat'
import { make, type Message, read, readWithResults } from './messages.ts'

const ADAPTER = '@loopguard/guards-ai-sdk'

/** Fits `LanguageModelMiddleware` of `ai` 5, 6 and 7. */
export interface ReminderMiddleware {
  readonly specificationVersion: 'v3'
  readonly transformParams: <P extends { readonly prompt: readonly Message[] }>(options: { readonly params: P }) => Promise<P>
}

/**
 * For `wrapLanguageModel({ model, middleware: repeatToolReminder() })`. The reminder is part of the request to the model, and of nothing
 * else: neither `messages` nor `steps` hold it.
 *
 * @throws TypeError `REPEAT_TOOL_REMINDER_CONFIG` that lists every fault of `config`, one a line.
 */
export function repeatToolReminder(config: RepeatConfig = {}): ReminderMiddleware {
  return middlewareOf(createReminderFold(ADAPTER, config, config.results === 'unchanged' ? readWithResults : read, make))
}

/**
 * The same for one call that fails again and again with one error, also with other calls between.
 *
 * @param quiet - the configuration of the `repeatToolReminder` beside it, which then speaks of the calls that it counts.
 * @throws TypeError `REPEATED_FAILURE_REMINDER_CONFIG` that lists every fault of `config`, one a line.
 */
export function repeatedFailureReminder(config: FailureConfig = {}, quiet?: RepeatConfig): ReminderMiddleware {
  return middlewareOf(createFailureFold(ADAPTER, config, { quiet }, readWithResults, make))
}

function middlewareOf(remind: (messages: Message[]) => Message[]): ReminderMiddleware {
  return {
    specificationVersion: 'v3',
    transformParams: async ({ params }) => ({ ...params, prompt: remind(params.prompt as Message[]) }),
  }
}
