import { createReminderFold, type Reading, type RepeatConfig } from '@loopguard/repeat'

/** A message of a prompt, as far as `ai` 5, 6 and 7 have it alike. */
interface Message {
  readonly role: string
  readonly content: unknown
}

interface Part {
  readonly type: string
  readonly text?: string
  readonly toolName?: string
  readonly input?: unknown
  readonly providerExecuted?: boolean
}

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
  const remind = createReminderFold<Message>('@loopguard/guards-ai-sdk', config, read, make)
  return {
    specificationVersion: 'v3',
    transformParams: async ({ params }) => ({ ...params, prompt: remind(params.prompt as Message[]) }),
  }
}

function read({ role, content }: Message): Reading {
  const parts = Array.isArray(content) ? (content as readonly Part[]) : []
  return {
    user: role === 'user' ? parts.map(({ text = '' }) => text).join('\n') : undefined,
    // What the provider executes has its result within one answer of the model, where no reminder can reach it.
    calls: parts
      .filter(({ type, providerExecuted }) => type === 'tool-call' && providerExecuted !== true)
      .map(({ toolName = '', input }) => ({ name: toolName, args: input })),
    results: role === 'tool' && parts.some(({ type }) => type === 'tool-result'),
  }
}

function make(text: string): Message {
  return { role: 'user', content: [{ type: 'text', text }] }
}
