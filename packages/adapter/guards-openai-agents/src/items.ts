import type { Reading } from '@loopguard/repeat'

/** An item of a model's input, as far as the guard has to understand it. */
export interface Item {
  readonly type?: string | undefined
  readonly role?: string | undefined
  readonly content?: unknown
  readonly name?: string | undefined
  readonly arguments?: unknown
  readonly action?: unknown
  readonly actions?: unknown
  readonly operation?: unknown
}

/** The calls that the SDK runs here. What the provider runs has its result within one answer of the model. */
const CALLS: Readonly<Record<string, (item: Item) => { name: string; args: unknown }>> = {
  function_call: ({ name = '', arguments: args }) => ({ name, args: parsed(args) }),
  computer_call: ({ action, actions = action }) => ({ name: 'computer', args: actions }),
  shell_call: ({ action }) => ({ name: 'shell', args: action }),
  apply_patch_call: ({ operation }) => ({ name: 'apply_patch', args: operation }),
}
const RESULTS = new Set(['function_call_result', 'computer_call_result', 'shell_call_output', 'apply_patch_call_output'])

export function read(item: Item): Reading {
  const { type = '', role, content } = item
  const call = CALLS[type]
  return {
    user: role === 'user' ? textOf(content) : undefined,
    calls: call === undefined ? [] : [call(item)],
    results: RESULTS.has(type),
  }
}

export function make(text: string): Item {
  return { type: 'message', role: 'user', content: text }
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
