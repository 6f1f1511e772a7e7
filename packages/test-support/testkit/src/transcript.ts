import { readFileSync } from 'node:fs'
import { messageOf } from '@loopguard/kit'
import { JsonCursor, TranscriptError } from './json-cursor.ts'
import { findJsonFault } from './json-fault.ts'
import type { Recording } from './recording.ts'
import { RecordingBuilder } from './recording-builder.ts'
import { readMessage } from './transcript-message.ts'

/**
 * Reads a conversation in the chat-completions message format: `{"messages": [...]}` or the bare array.
 * @throws TranscriptError with the file, the line and column (no JSON) or the path (wrong shape), what was expected and what is there.
 */
export function readTranscript(file: string): Recording {
  let text
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new TranscriptError(file, `cannot be read: ${messageOf(error)}`, { cause: error })
  }
  return parseTranscript(text, file)
}

/** As {@link readTranscript}, of text; `file` is what errors call it. */
export function parseTranscript(text: string, file: string): Recording {
  const root = new JsonCursor(file, parse(text.startsWith('\ufeff') ? text.slice(1) : text, file))
  const isBare = Array.isArray(root.value)
  const messages = isBare ? new JsonCursor(file, root.value, 'messages').items('an array') : wrapped(root).items('an array of messages')
  const builder = new RecordingBuilder()
  for (const message of messages) readMessage(message, builder)
  if (messages.length === 0) throw new TranscriptError(file, 'expected at least one message, got none')
  const model = isBare || typeof root.at('model').value !== 'string' ? undefined : root.at('model').text('text')
  return builder.build(model)
}

function wrapped(root: JsonCursor): JsonCursor {
  if (typeof root.value !== 'object' || root.value === null) throw root.fault('an array of messages, or an object with `messages`')
  return root.at('messages')
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const fault = findJsonFault(text)
    if (fault === undefined) throw new TranscriptError(file, messageOf(error), { cause: error })
    const { line, column, expected, got } = fault
    throw new TranscriptError(`${file}:${line}:${column}`, `not JSON: expected ${expected}, got ${got}`, { cause: error })
  }
}
