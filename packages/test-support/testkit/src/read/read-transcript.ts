import { readFileSync } from 'node:fs'
import { messageOf } from '@loopguard/kit'
import { readAnthropic, systemOf } from './anthropic.ts'
import { readChat } from './chat.ts'
import { type Documents, documentsOf } from './documents.ts'
import { type JsonCursor, TranscriptError } from './json-cursor.ts'
import { eventsOfOne } from './printed.ts'
import type { Transcript } from './transcript.ts'
import { TranscriptBuilder } from './transcript-builder.ts'
import { type BodyShape, itemsOf, recordsOf } from './records.ts'
import { readResponses, RESPONSES_BODY } from './responses.ts'
import { readSessionLog } from './session-log.ts'
import { type Format, formatOf, FORMATS } from './tell.ts'

const STANDARD_INPUT = 0

/** A file with a transcript. */
export interface OpenedTranscript {
  readonly transcript: Transcript
  /** Of a session log, and of what `loopguard run --json` printed: the events of the conversation. */
  readonly events: readonly unknown[] | undefined
  /** The last line broke off: its writer was killed, or writes it now. */
  readonly isTorn: boolean
}

/**
 * Reads a recorded conversation, in any of the formats of {@link FORMATS}; `-` is standard input. The format is told from the content.
 * @throws TranscriptError with the file, the line and column (no JSON) or the path (wrong shape), what was expected, what is there, and
 * as which format the file was read.
 */
export function readTranscript(file: string): Transcript {
  return openTranscript(file).transcript
}

/** As {@link readTranscript}, with what a log says besides. */
export function openTranscript(file: string): OpenedTranscript {
  const isInput = file === '-'
  let text
  try {
    text = readFileSync(isInput ? STANDARD_INPUT : file, 'utf8')
  } catch (error) {
    throw new TranscriptError(isInput ? 'standard input' : file, `cannot be read: ${messageOf(error)}`, { cause: error })
  }
  return opened(text, isInput ? 'standard input' : file)
}

/** As {@link readTranscript}, of text; `file` is what errors call it. */
export function parseTranscript(text: string, file: string): Transcript {
  return opened(text, file).transcript
}

function opened(text: string, file: string): OpenedTranscript {
  const documents = documentsOf(text.startsWith('\ufeff') ? text.slice(1) : text, file)
  const { isTorn } = documents
  const format = formatOf(documents, file)
  const transcript = new TranscriptBuilder()
  try {
    const events = EVENTS[format]?.(documents, transcript)
    const model = events === undefined ? READERS[format as Conversation](documents, transcript) : readSessionLog(events, transcript)
    // A log is torn whenever its process was killed; its reader need not be told.
    if (isTorn && format !== 'log') transcript.note('the last line breaks off, and is left out')
    if (transcript.isEmpty) throw new TranscriptError(file, 'expected at least one message, got none')
    return { transcript: transcript.build(model), events: events?.map(({ value }) => value), isTorn }
  } catch (error) {
    if (!(error instanceof TranscriptError)) throw error
    throw new TranscriptError('', `${error.message} (read as ${FORMATS[format]})`, { cause: error })
  }
}

const EVENTS: Readonly<Partial<Record<Format, (documents: Documents, transcript: TranscriptBuilder) => readonly JsonCursor[]>>> = {
  log: (documents) => itemsOf(documents, 'events'),
  printed: (documents, transcript) => eventsOfOne(itemsOf(documents, 'lines'), transcript),
}

type Conversation = Exclude<Format, 'log' | 'printed'>

const READERS: Readonly<Record<Conversation, (documents: Documents, transcript: TranscriptBuilder) => string | undefined>> = {
  chat(documents, transcript) {
    const items = itemsOf(documents, 'messages')
    for (const message of recordsOf(items, MESSAGES_BODY, transcript)) readChat(message, transcript)
    return modelOf(items)
  },
  anthropic(documents, transcript) {
    const items = itemsOf(documents, 'messages')
    const [first] = items
    const system = first !== undefined && MESSAGES_BODY.isBody(first) ? systemOf(first, transcript) : undefined
    if (system !== undefined) transcript.openWith(system)
    for (const message of recordsOf(items, MESSAGES_BODY, transcript)) readAnthropic(message, transcript)
    return modelOf(items)
  },
  responses(documents, transcript) {
    const items = itemsOf(documents, 'items')
    const { instructions } = Object(items[0]?.value) as { readonly instructions?: unknown }
    if (typeof instructions === 'string') transcript.openWith(instructions)
    readResponses(recordsOf(items, RESPONSES_BODY, transcript), transcript)
    return modelOf(items)
  },
}

const MESSAGES_BODY: BodyShape = {
  isBody: ({ value }) => Object.hasOwn(Object(value) as object, 'messages'),
  recordsIn: (body) => body.at('messages').items('an array of messages'),
}

/** The first that a body or an answer names. */
function modelOf(items: readonly JsonCursor[]): string | undefined {
  const models = items.map(({ value }) => (Object(value) as { readonly model?: unknown }).model)
  return models.find((model) => typeof model === 'string')
}
