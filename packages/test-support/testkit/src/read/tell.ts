import type { Documents } from './documents.ts'
import { type JsonCursor, shown, TranscriptError } from './json-cursor.ts'

/** The formats that are read, and how errors call them. */
export const FORMATS = {
  log: 'a session log, ours or that of the DeepSeek Harness',
  printed: 'the output of `loopguard run --json`',
  chat: 'chat-completions messages',
  anthropic: 'Anthropic messages',
  responses: 'items of the OpenAI Responses API',
} as const

export type Format = keyof typeof FORMATS

type Fields = Readonly<Record<string, unknown>>

/** What a record says of the format by itself. A message may be one of three. */
type Kind = Format | 'message' | 'body' | undefined

const ITEMS = /^(?:reasoning|item_reference|\w+_call|\w+_call_output)$/

/**
 * Tells the format from the content, not from the name of the file.
 * @throws TranscriptError for what cannot be told: it names the formats, and says what the file looks like.
 */
export function formatOf({ values, isLines }: Documents, file: string): Format {
  const [only] = values
  const items = !isLines && Array.isArray(only?.value) ? (only.value as unknown[]) : values.map(({ value }) => value)
  const kinds = items.map(kindOf)
  const certain = kinds.find((kind): kind is Format => kind !== undefined && kind in FORMATS)
  if (certain !== undefined) return certain
  if (kinds.every((kind) => kind === undefined)) throw untold(items, only, isLines, file)
  const marks = items.flatMap((item, at) => (kinds[at] === 'body' ? marksOfBody(item as Fields) : [markOf(item)]))
  return marks.find((mark) => mark !== undefined) ?? 'chat'
}

function kindOf(value: unknown): Kind {
  const { type, data, agent, event, summary, finding, messages, input, output, role } = Object(value) as Fields
  if (typeof type === 'string' && ((type.includes('/') && isObject(data)) || (type === 'session' && role === undefined))) return 'log'
  if (typeof agent === 'string' && isObject(event)) return 'printed'
  if (type === undefined && role === undefined && (isObject(summary) || isObject(finding))) return 'printed'
  if (messages !== undefined) return 'body'
  if (typeof type === 'string' && ITEMS.test(type)) return 'responses'
  if (role === undefined && (Array.isArray(output) || Array.isArray(input) || typeof input === 'string')) return 'responses'
  return typeof role === 'string' ? 'message' : undefined
}

function marksOfBody({ messages, system }: Fields): (Format | undefined)[] {
  const marks = Array.isArray(messages) ? messages.map(markOf) : []
  return [...marks, typeof system === 'string' || Array.isArray(system) ? 'anthropic' : undefined]
}

const ANTHROPIC = ['tool_use', 'tool_result', 'thinking', 'redacted_thinking', 'server_tool_use']
const RESPONSES = ['input_text', 'output_text', 'input_image', 'input_file']
const CHAT_ROLES = ['system', 'developer', 'tool', 'function']

/** What one message says of its format; one of plain text says nothing. */
function markOf(message: unknown): Format | undefined {
  const { role, content, tool_calls: calls, function_call: call } = Object(message) as Fields
  const types = Array.isArray(content) ? content.map((part) => (Object(part) as Fields)['type'] as string) : []
  if (types.some((type) => ANTHROPIC.includes(type))) return 'anthropic'
  if (types.some((type) => RESPONSES.includes(type))) return 'responses'
  return isObject(calls) || isObject(call) || CHAT_ROLES.includes(role as string) ? 'chat' : undefined
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function untold(items: readonly unknown[], only: JsonCursor | undefined, isLines: boolean, file: string): TranscriptError {
  const [first] = items
  const one = isLines ? `${items.length} lines` : shown(only?.value)
  const looks = isLines || Array.isArray(only?.value) ? `${one}${items.length > 0 ? `, the first of which is ${shown(first)}` : ''}` : one
  return new TranscriptError(file, `its format cannot be told: it is ${looks}. What is read: ${Object.values(FORMATS).join('; ')}`)
}
