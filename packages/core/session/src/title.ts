import { clip } from '@loopguard/kit'
import type { UserMessage } from '@loopguard/llm'

const MAX_TITLE_CHARS = 80

/** What a person said, as a title: one line of at most 80 code points. Undefined when a plugin or a tool said it, or it holds no words. */
export function titleOf(type: string, data: unknown): string | undefined {
  if (type !== 'user/message') return undefined
  const { source, content } = data as UserMessage
  if (source?.kind !== 'user') return undefined
  const words = content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  const line = words.join(' ').trim().replaceAll(/\s+/g, ' ')
  return line === '' ? undefined : clip(line, MAX_TITLE_CHARS)
}
