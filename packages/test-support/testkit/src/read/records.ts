import type { Documents } from './documents.ts'
import type { JsonCursor } from './json-cursor.ts'
import type { TranscriptBuilder } from './transcript-builder.ts'

/** Bodies of requests, as some format has them. */
export interface BodyShape {
  isBody(value: JsonCursor): boolean
  recordsIn(body: JsonCursor): readonly JsonCursor[]
  /** Whether it goes on where the one before ended, without repeating it. */
  goesOn?(body: JsonCursor): boolean
}

/** An array's elements, one or more bodies, or what stands one a line. */
export function itemsOf({ values, isLines }: Documents, name: string): readonly JsonCursor[] {
  const [only] = values
  return !isLines && only !== undefined && Array.isArray(only.value) ? only.named(name).items('an array') : values
}

/**
 * The messages of all items. A body that begins with all that stood in the one before it is the next request of the same
 * conversation, and only what is new is read; any other begins anew.
 */
export function recordsOf(items: readonly JsonCursor[], shape: BodyShape, transcript: TranscriptBuilder): JsonCursor[] {
  let before: string[] = []
  return items.flatMap((item): readonly JsonCursor[] => {
    if (!shape.isBody(item)) return [item]
    const records = shape.recordsIn(item)
    const prints = records.map(({ value }) => printOf(value))
    const isNext = before.every((print, at) => prints[at] === print)
    if (!isNext && shape.goesOn?.(item) !== true)
      transcript.note(`${item.path}: does not begin with the request before it, and is read as another conversation`)
    const fresh = isNext ? records.slice(before.length) : records
    before = prints
    return fresh
  })
}

/** The marks of a cache move from message to message, and say nothing of the conversation. */
function printOf(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) => (key === 'cache_control' ? undefined : inner))
}
