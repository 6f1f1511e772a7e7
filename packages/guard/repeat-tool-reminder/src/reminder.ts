import { randomUUID } from 'node:crypto'
import type { Settings } from './config.ts'
import { firstPoints, oneLine, previewOf } from './preview.ts'

export const GENTLE =
  'You are repeating the exact same tool call with identical arguments. Carefully analyze the previous result before calling again: if the task is not complete, try a different approach or different arguments instead of repeating the call.'

const MAX_NAME_POINTS = 200

/** What the model reads when it has made this call `run` times in a row: gentle at the first threshold, detailed at each later one. */
export function reminderText(tool: string, args: unknown, run: number, { first, previewChars }: Settings): string {
  if (run === first) return GENTLE
  return `Loop warning: one and the same tool call, again and again.
- tool: ${nameLine(tool)}
- consecutive_calls: ${run}
- arguments: ${previewOf(args, previewChars)}
These calls make no progress. Do not make this call with these arguments again: take a different action, or call with different arguments. If you have gathered enough evidence, finish the task.`
}

function nameLine(tool: string): string {
  const line = oneLine(tool)
  return firstPoints(line, MAX_NAME_POINTS) === line ? line : `${firstPoints(line, MAX_NAME_POINTS - 1)}…`
}

/** A user message, as far as every host knows it. */
export interface ReminderMessage {
  readonly id: string
  readonly role: 'user'
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }]
  readonly source: { readonly kind: 'plugin'; readonly plugin: string }
}

/** Made here and not by the host's factory, which the guard does not load. Deep-frozen. */
export function reminderMessage(plugin: string, text: string): ReminderMessage {
  const content = Object.freeze([Object.freeze({ type: 'text', text } as const)] as const)
  return Object.freeze({ id: randomUUID(), role: 'user', content, source: Object.freeze({ kind: 'plugin', plugin }) })
}
