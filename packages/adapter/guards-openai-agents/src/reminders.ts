import { createFailureFold, createReminderFold, type FailureConfig, type RepeatConfig } from '@loopguard/repeat'
import { type Item, make, read, readWithResults } from './items.ts'

/** Fits `Model` of `@openai/agents-core`. */
interface Model {
  getResponse(request: never): unknown
  getStreamedResponse(request: never): unknown
}

interface Request {
  readonly input: string | Item[]
  readonly previousResponseId?: string | undefined
  readonly conversationId?: string | undefined
}

const ADAPTER = '@loopguard/guards-openai-agents'

/**
 * Makes models that read the reminders: `new Agent({ model: repeatToolReminder()(model) })`. The reminder is part of the request to the model
 * alone; no session keeps it.
 *
 * A conversation that the server keeps (`conversationId`, `previousResponseId`) sends what is new, so there is no history to count in. The
 * first such request is warned of on the console.
 *
 * @throws TypeError `REPEAT_TOOL_REMINDER_CONFIG` that lists every fault of `config`, one a line.
 */
export function repeatToolReminder(config: RepeatConfig = {}): <M extends Model>(model: M) => M {
  return wrapperOf(
    createReminderFold<Item>(ADAPTER, config, config.results === 'unchanged' ? readWithResults : read, make),
    'repeated calls',
  )
}

/**
 * The same for one call that fails again and again with one error, also with other calls between. The SDK does not say which results are
 * errors, so `errors` is a must: a regular expression that finds something in those.
 *
 * @param quiet - the configuration of the `repeatToolReminder` beside it, which then speaks of the calls that it counts.
 * @throws TypeError `REPEATED_FAILURE_REMINDER_CONFIG` that lists every fault of `config`, one a line.
 */
export function repeatedFailureReminder(
  config: FailureConfig & { readonly errors: string },
  quiet?: RepeatConfig,
): <M extends Model>(model: M) => M {
  return wrapperOf(createFailureFold<Item>(ADAPTER, config, { quiet }, readWithResults, make), 'repeated failures')
}

function wrapperOf(remind: (items: Item[]) => Item[], subject: string): <M extends Model>(model: M) => M {
  let hasWarned = false
  const reminded = (request: Request): Request => {
    const { input, conversationId, previousResponseId } = request
    if (!hasWarned && (conversationId ?? previousResponseId) !== undefined) {
      hasWarned = true
      console.warn(`${ADAPTER}: the server keeps the conversation, so ${subject} are not seen and the model gets no reminder of them`)
    }
    return typeof input === 'string' ? request : { ...request, input: remind(input) }
  }
  return (model) =>
    // Of its own class and with its private fields, for the SDK and for its users.
    new Proxy(model, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target)
        if (typeof value !== 'function') return value
        const method = value.bind(target) as (request: Request) => unknown
        return key === 'getResponse' || key === 'getStreamedResponse' ? (request: Request) => method(reminded(request)) : method
      },
    })
}
