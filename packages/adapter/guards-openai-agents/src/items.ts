import type { Outcome, Reading } from '@loopguard/repeat'

/** An item of a model's input, as far as the guard has to understand it. */
export interface Item {
  readonly type?: string | undefined
  readonly role?: string | undefined
  readonly content?: unknown
  readonly callId?: string | undefined
  readonly name?: string | undefined
  readonly arguments?: unknown
  readonly action?: unknown
  readonly actions?: unknown
  readonly operation?: unknown
  readonly output?: unknown
  readonly status?: string | undefined
}

/** The calls that the SDK runs here. What the provider runs has its result within one answer of the model. */
const CALLS: Readonly<Record<string, (item: Item) => { name: string; args: unknown }>> = {
  function_call: ({ name = '', arguments: args }) => ({ name, args: parsed(args) }),
  computer_call: ({ action, actions = action }) => ({ name: 'computer', args: actions }),
  shell_call: ({ action }) => ({ name: 'shell', args: action }),
  apply_patch_call: ({ operation }) => ({ name: 'apply_patch', args: operation }),
}
const RESULTS = new Set(['function_call_result', 'computer_call_result', 'shell_call_output', 'apply_patch_call_output'])

/** What the fold has to know of an item; of a result, that it is there. */
export function read(item: Item): Reading {
  const { type = '', role, content, callId: id } = item
  const call = CALLS[type]
  return {
    user: role === 'user' ? textOf(content) : undefined,
    calls: call === undefined ? [] : [{ ...call(item), id }],
    results: RESULTS.has(type),
  }
}

/** The same, with what the result is: it is written out for it. */
export function readWithResults(item: Item): Reading {
  const reading = read(item)
  return reading.results === true ? { ...reading, results: [{ id: item.callId, ...outcomeOf(item) }] } : reading
}

export function make(text: string): Item {
  return { type: 'message', role: 'user', content: text }
}

/** Of a function the SDK does not say whether it failed. */
function outcomeOf({ output = null, status }: Item): Outcome {
  const { text = output } = Object(output) as { text?: unknown }
  return { isError: status === 'failed', text: typeof text === 'string' ? text : JSON.stringify(text) }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? (content as readonly { text?: string }[]).map(({ text = '' }) => text).join('\n') : ''
}

/** Arguments that are no JSON are compared as the text that they are. */
function parsed(text: unknown): unknown {
  try {
    return JSON.parse(text as string)
  } catch {
    return text
  }
}
