import { show } from '@loopguard/kit'

// What a message and its content must look like, for every package that takes one from outside. Unknown block types and unknown keys
// pass: they are a later version's, or a plugin's.

/** The fields of the known blocks that must be text. */
const TEXT_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['text', ['text']],
  ['reasoning', ['text']],
  ['tool-call', ['id', 'name', 'arguments']],
  ['tool-result', ['toolCallId']],
])

/** What is wrong with a message of this role, with the place `at` in front; `undefined` when nothing is. */
export function messageFault(value: unknown, role: 'user' | 'assistant', at = 'message'): string | undefined {
  if (!isRecord(value)) return `${at} must be ${role === 'user' ? 'a user' : 'an assistant'} message, got ${show(value)}`
  const { id, source } = value
  if (typeof id !== 'string' || id === '') return `${at}.id must be non-empty text, got ${show(id)}`
  if (value['role'] !== role) return `${at}.role must be "${role}", got ${show(value['role'])}`
  if (!isRecord(source) || typeof source['kind'] !== 'string') return `${at}.source must have a kind, got ${show(source)}`
  return contentFault(value['content'], `${at}.content`)
}

/** What is wrong with an array of content blocks. With a list of work instead of recursion: results may hold results, to any depth. */
export function contentFault(value: unknown, at = 'content'): string | undefined {
  const work: { readonly blocks: unknown; readonly at: string }[] = [{ blocks: value, at }]
  for (let item = work.pop(); item !== undefined; item = work.pop()) {
    if (!Array.isArray(item.blocks)) return `${item.at} must be an array of content blocks, got ${show(item.blocks)}`
    for (let index = 0; index < item.blocks.length; index++) {
      const block: unknown = item.blocks[index]
      const fault = blockFault(block)
      if (fault !== undefined) return `${item.at}[${index}]${fault}`
      const { type, content } = block as { readonly type: string; readonly content?: unknown }
      if (type === 'tool-result') work.push({ blocks: content, at: clipPath(`${item.at}[${index}].content`) })
    }
  }
  return undefined
}

/** What is wrong with one block, but for the content of a result, in words that follow its place. */
function blockFault(block: unknown): string | undefined {
  if (!isRecord(block) || typeof block['type'] !== 'string') return ` must be a content block, got ${show(block)}`
  for (const field of TEXT_FIELDS.get(block['type']) ?? []) {
    if (typeof block[field] !== 'string') return `.${field} must be text, got ${show(block[field])}`
  }
  const { isError } = block
  if (block['type'] === 'tool-result' && isError !== undefined && typeof isError !== 'boolean') {
    return `.isError must be true or false, got ${show(isError)}`
  }
  return undefined
}

/** Keeps the path of a very deep block short. */
function clipPath(path: string): string {
  return path.length > 200 ? `…${path.slice(-100)}` : path
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
