import type { Outcome } from '@loopguard/repeat'

/** What a result says to the model: its blocks of text, and any other block as JSON. Nothing for what is no result. */
export function outcomeOf(result: unknown): Outcome | undefined {
  const { isError, content } = Object(result) as { readonly isError?: unknown; readonly content?: unknown }
  if (!Array.isArray(content)) return undefined
  return { isError: isError === true, text: (content as readonly unknown[]).map(textOf).join('\n') }
}

function textOf(block: unknown): string {
  const { type, text } = Object(block) as { readonly type?: unknown; readonly text?: unknown }
  return type === 'text' && typeof text === 'string' ? text : `${JSON.stringify(block)}`
}
