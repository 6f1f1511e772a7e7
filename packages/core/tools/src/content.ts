import { HarnessError, snapshot, show } from '@loopguard/kit'
import type { ContentBlock, UserMessage } from '@loopguard/llm'

/** The fields of each block that must be there, and text. */
const TEXT_FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  reasoning: ['text'],
  'tool-call': ['id', 'name', 'arguments'],
  'tool-result': ['toolCallId'],
}

/**
 * A detached, deep-frozen copy of an array of content blocks.
 * @throws HarnessError `BAD_CONTENT`, or llm's JsonError, which say what is wrong and where.
 */
export function contentOf(value: unknown, name: string): readonly ContentBlock[] {
  const content: unknown = snapshot(value, name)
  checkBlocks(content, name)
  return content
}

/**
 * Detached, deep-frozen copies of user messages.
 * @throws HarnessError `BAD_CONTENT`, or llm's JsonError, which say what is wrong and where.
 */
export function contextsOf(value: unknown, name: string): readonly UserMessage[] {
  const messages: unknown = snapshot(value, name)
  if (!Array.isArray(messages)) throw bad(`${name} must be an array of user messages, got ${show(messages)}`)
  for (const [index, message] of messages.entries()) checkMessage(message, `${name}[${index}]`)
  return messages as readonly UserMessage[]
}

/** A detached, deep-frozen copy of one user message. @throws as {@link contextsOf} */
export function contextOf(value: unknown, name: string): UserMessage {
  const message: unknown = snapshot(value, name)
  checkMessage(message, name)
  return message
}

function checkMessage(message: unknown, at: string): asserts message is UserMessage {
  if (!isRecord(message)) throw bad(`${at} must be a user message, got ${show(message)}`)
  if (typeof message['id'] !== 'string') throw bad(`${at}.id must be text, got ${show(message['id'])}`)
  if (message['role'] !== 'user') throw bad(`${at}.role must be "user", got ${show(message['role'])}`)
  const source = message['source']
  if (!isRecord(source) || typeof source['kind'] !== 'string') throw bad(`${at}.source must have a kind, got ${show(source)}`)
  checkBlocks(message['content'], `${at}.content`)
}

/** With a list of work instead of recursion: results may hold results, to any depth. */
function checkBlocks(value: unknown, name: string): asserts value is readonly ContentBlock[] {
  const work: { readonly blocks: unknown; readonly at: string }[] = [{ blocks: value, at: name }]
  for (let item = work.pop(); item !== undefined; item = work.pop()) {
    const { blocks, at } = item
    if (!Array.isArray(blocks)) throw bad(`${at} must be an array of content blocks, got ${show(blocks)}`)
    for (const [index, block] of blocks.entries()) {
      const place = `${at}[${index}]`
      checkFields(block, place)
      if (block['type'] === 'tool-result') work.push({ blocks: block['content'], at: clipPath(`${place}.content`) })
    }
  }
}

function checkFields(block: unknown, at: string): asserts block is Readonly<Record<string, unknown>> {
  if (!isRecord(block)) throw bad(`${at} must be a content block, got ${show(block)}`)
  const type = block['type']
  const fields = typeof type === 'string' && Object.hasOwn(TEXT_FIELDS, type) ? TEXT_FIELDS[type] : undefined
  if (fields === undefined) throw bad(`${at}.type must be one of ${Object.keys(TEXT_FIELDS).join(', ')}, got ${show(type)}`)
  for (const field of fields) {
    if (typeof block[field] !== 'string') throw bad(`${at}.${field} must be text, got ${show(block[field])}`)
  }
  const isError = block['isError']
  if (type === 'tool-result' && isError !== undefined && typeof isError !== 'boolean') {
    throw bad(`${at}.isError must be true or false, got ${show(isError)}`)
  }
}

/** Keeps the path of a very deep block short. */
function clipPath(path: string): string {
  return path.length > 200 ? `…${path.slice(-100)}` : path
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function bad(message: string): HarnessError {
  return new HarnessError(message, 'BAD_CONTENT')
}
