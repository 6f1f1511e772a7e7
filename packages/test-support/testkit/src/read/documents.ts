import { messageOf } from '@loopguard/kit'
import { JsonCursor, TranscriptError } from './json-cursor.ts'
import { findJsonFault } from './json-fault.ts'

/** What a file holds: one JSON value, or one a line. */
export interface Documents {
  readonly values: readonly JsonCursor[]
  readonly isLines: boolean
  /** The last line broke off, and is left out: its writer was killed, or writes it now. */
  readonly isTorn: boolean
}

/** @throws TranscriptError with line and column. */
export function documentsOf(text: string, file: string): Documents {
  const whole = parse(text)
  if ('value' in whole) return { values: [new JsonCursor(file, whole.value)], isLines: false, isTorn: false }
  const lines = text.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [{ line, number: index + 1, ...parse(line) }]))
  // A broken value that is written over several lines has no whole object on its first line.
  const [first] = lines
  if (first === undefined || !('value' in first) || Object(first.value) !== first.value) throw notJson(file, text, 0, whole.error)
  const broken = lines.find((line) => 'error' in line)
  if (broken !== undefined && broken !== lines.at(-1)) throw notJson(file, broken.line, broken.number - 1, whole.error)
  return {
    values: lines.flatMap((line) => ('value' in line ? [new JsonCursor(file, line.value, `line ${line.number}`)] : [])),
    isLines: true,
    isTorn: broken !== undefined,
  }
}

function parse(text: string): { readonly value: unknown } | { readonly error: unknown } {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { error }
  }
}

function notJson(file: string, text: string, linesBefore: number, cause: unknown): TranscriptError {
  const fault = findJsonFault(text)
  if (fault === undefined) return new TranscriptError(file, messageOf(cause), { cause })
  const { line, column, expected, got } = fault
  return new TranscriptError(`${file}:${line + linesBefore}:${column}`, `not JSON: expected ${expected}, got ${got}`, { cause })
}
