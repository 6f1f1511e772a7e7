import { HarnessError, snapshot } from '@loopguard/kit'
import type { UserMessage } from '@loopguard/llm'

/**
 * A detached, deep-frozen copy of a user message.
 * @throws HarnessError `BAD_MESSAGE`, or llm's JsonError, which say what is wrong and where.
 */
export function userMessageOf(value: unknown, name = 'message'): UserMessage {
  const message: unknown = snapshot(value, name)
  const fault = faultOf(message)
  if (fault === undefined) return message as UserMessage
  throw new HarnessError(`agent-loop: ${name}${fault} (createUserMessage makes user messages)`, 'BAD_MESSAGE')
}

function faultOf(message: unknown): string | undefined {
  if (!isRecord(message)) return ` must be a user message, got ${shown(message)}`
  const { id, role, content, source } = message
  if (typeof id !== 'string' || id === '') return `.id must be non-empty text, got ${shown(id)}`
  if (role !== 'user') return `.role must be "user", got ${shown(role)}`
  if (!isRecord(source) || typeof source['kind'] !== 'string') return `.source must have a kind, got ${shown(source)}`
  if (!Array.isArray(content)) return `.content must be an array of content blocks, got ${shown(content)}`
  for (const [index, block] of content.entries()) {
    const why = blockFault(block)
    if (why !== undefined) return `.content[${index}]${why}`
  }
  return undefined
}

/** What is wrong with a content block, in words that follow its name; `undefined` when nothing is. */
export function blockFault(block: unknown): string | undefined {
  if (!isRecord(block) || typeof block['type'] !== 'string') return ` must be a content block, got ${shown(block)}`
  const fields = TEXT_FIELDS.get(block['type']) ?? []
  const bad = fields.find((field) => typeof block[field] !== 'string')
  return bad === undefined ? undefined : `.${bad} must be text, got ${shown(block[bad])}`
}

/** The fields of the known blocks that must be text. */
const TEXT_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['text', ['text']],
  ['reasoning', ['text']],
  ['tool-call', ['id', 'name', 'arguments']],
  ['tool-result', ['toolCallId']],
])

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value for an error message. Never throws. */
export function shown(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 200)
  } catch {
    return Object.prototype.toString.call(value)
  }
}
