import { type JsonValue, parseSnapshot } from '@loopguard/kit'

const NONE: JsonValue = Object.freeze({})

/**
 * What a tool call's raw argument text stands for, deep-frozen: `''` is `{}`; text that is no JSON, and text with a number out of
 * range, stays the text that it is, so that different calls stay different.
 */
export function parseArguments(raw: string): JsonValue {
  if (raw === '') return NONE
  try {
    return parseSnapshot(raw, 'arguments')
  } catch {
    return raw
  }
}
