import { createReminderFold, type RepeatConfig } from '@loopguard/repeat'
import { type Item, make, read } from './items.ts'

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
  const remind = createReminderFold<Item>(ADAPTER, config, read, make)
  let hasWarned = false
  const reminded = (request: Request): Request => {
    const { input, conversationId, previousResponseId } = request
    if (!hasWarned && (conversationId ?? previousResponseId) !== undefined) {
      hasWarned = true
      console.warn(`${ADAPTER}: the server keeps the conversation, so repeated calls are not seen and the model gets no reminder of them`)
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
