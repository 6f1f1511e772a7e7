import type { JsonCursor } from './json-cursor.ts'
import type { TranscriptBuilder } from './transcript-builder.ts'

/**
 * Gives a result to its call. Without an id it goes to the oldest call of the latest answer that waits for one.
 * @throws TranscriptError when no call waits for it.
 */
export function answerTo(holder: JsonCursor, key: string, result: string, isError: boolean, transcript: TranscriptBuilder): void {
  const id = holder.at(key)
  if (holder.lacks(key)) {
    if (!transcript.answerNext(result, isError)) throw id.fault('the id of a tool call')
    transcript.note(`${id.path}: is missing; the result is given to the oldest call that waits for one`)
  } else if (!transcript.answer(id.text('the id of a tool call'), result, isError)) {
    throw id.fault('the id of an earlier tool call that has no result yet')
  }
}

/** The raw text of arguments. Some recorders keep what it stands for in its place; without any there are none. */
export function argumentsOf(body: JsonCursor, key: 'arguments' | 'input'): string {
  if (body.lacks(key)) return ''
  const given = body.at(key)
  if (typeof given.value === 'object') return JSON.stringify(given.value)
  return given.text(key === 'arguments' ? 'the JSON text of the arguments' : 'text')
}
