import type { TextBlock } from '@loopguard/llm'
import { isReminder } from '@loopguard/repeat'
import { type JsonCursor, shown } from './json-cursor.ts'
import type { TranscriptBuilder } from './transcript-builder.ts'

/**
 * What stands in a log as a message of the user may be that of a harness: one with a `name`, one whose `source` is another, and what
 * is a guard's own text. Only a person's word ends a run of equal calls.
 */
export function hearOrInject(message: JsonCursor, content: readonly TextBlock[], transcript: TranscriptBuilder): void {
  const words = content.filter(({ text }) => !isReminder(text))
  for (const block of content) if (!words.includes(block)) transcript.inject([block])
  if (words.length === 0 && content.length > 0) return
  const isOfUser = typeof message.at('name').value !== 'string' && ofUser(message.at('source').value)
  if (isOfUser) transcript.hear(words)
  else transcript.inject(words)
}

function ofUser(source: unknown): boolean {
  const { kind } = Object(source) as { readonly kind?: unknown }
  return typeof kind !== 'string' || kind === 'user'
}

/** A role that a later version of a format has, or a harness made up. @throws TranscriptError when there is no role at all. */
export function injectUnknown(
  message: JsonCursor,
  roles: string,
  content: () => readonly TextBlock[],
  transcript: TranscriptBuilder,
): void {
  const role = message.at('role')
  role.words(roles)
  transcript.note(`${role.path}: ${shown(role.value)} is not ${roles}; read as a message of the harness`)
  if (!message.lacks('content')) transcript.inject(content())
}
