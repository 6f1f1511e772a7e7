import { createFailureFold, createReminderFold, type FailureConfig, type RepeatConfig } from '@loopguard/repeat'
import { type AgentMiddleware, type BaseMessage, createMiddleware } from 'langchain'
import { make, read } from './messages.ts'

const ADAPTER = '@loopguard/guards-langchain'

/**
 * For `createAgent({ middleware: [repeatToolReminder()] })`. The reminder is part of the request to the model alone: the state, and what a
 * checkpointer keeps of it, stays as it is.
 *
 * @throws TypeError `REPEAT_TOOL_REMINDER_CONFIG` that lists every fault of `config`, one a line.
 */
export function repeatToolReminder(config: RepeatConfig = {}): AgentMiddleware {
  return middlewareOf('RepeatToolReminder', createReminderFold<BaseMessage>(ADAPTER, config, read, make))
}

/**
 * The same for one call that fails again and again with one error, also with other calls between.
 *
 * @param quiet - the configuration of the `repeatToolReminder` beside it, which then speaks of the calls that it counts.
 * @throws TypeError `REPEATED_FAILURE_REMINDER_CONFIG` that lists every fault of `config`, one a line.
 */
export function repeatedFailureReminder(config: FailureConfig = {}, quiet?: RepeatConfig): AgentMiddleware {
  return middlewareOf('RepeatedFailureReminder', createFailureFold<BaseMessage>(ADAPTER, config, { quiet }, read, make))
}

function middlewareOf(name: string, remind: (messages: BaseMessage[]) => BaseMessage[]): AgentMiddleware {
  return createMiddleware({
    name,
    wrapModelCall: (request, handler) => handler({ ...request, messages: remind(request.messages) }),
  })
}
