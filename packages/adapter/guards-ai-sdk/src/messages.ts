import type { Outcome, Reading } from '@loopguard/repeat'

/** A message of a prompt, as far as `ai` 5, 6 and 7 have it alike. */
export interface Message {
  readonly role: string
  readonly content: unknown
}

interface Part {
  readonly type: string
  readonly text?: string
  readonly toolCallId?: string
  readonly toolName?: string
  readonly input?: unknown
  readonly output?: { readonly type: string; readonly value?: unknown; readonly reason?: unknown }
  readonly providerExecuted?: boolean
}

/** What the fold has to know of a message; of results, that they are there. */
export function read({ role, content }: Message): Reading {
  const parts = partsOf(content)
  return {
    user: role === 'user' ? parts.map(({ text = '' }) => text).join('\n') : undefined,
    // What the provider executes has its result within one answer of the model, where no reminder can reach it.
    calls: parts
      .filter(({ type, providerExecuted }) => type === 'tool-call' && providerExecuted !== true)
      .map(({ toolName = '', input, toolCallId: id }) => ({ name: toolName, args: input, id })),
    results: role === 'tool' && parts.some(({ type }) => type === 'tool-result'),
  }
}

/** The same, with what the results are: each is written out for it. */
export function readWithResults(message: Message): Reading {
  const reading = read(message)
  if (reading.results !== true) return reading
  const results = partsOf(message.content).filter(({ type }) => type === 'tool-result')
  return { ...reading, results: results.map(({ toolCallId: id, output }) => ({ id, ...outcomeOf(output) })) }
}

export function make(text: string): Message {
  return { role: 'user', content: [{ type: 'text', text }] }
}

function outcomeOf({ type, value, reason }: Part['output'] = { type: 'text' }): Outcome {
  const isError = type.startsWith('error') || type === 'execution-denied'
  return { isError, text: typeof value === 'string' ? value : JSON.stringify(value ?? reason ?? null) }
}

function partsOf(content: unknown): readonly Part[] {
  return Array.isArray(content) ? (content as readonly Part[]) : []
}
