import type { ModelBlock, TextBlock } from '@loopguard/llm'
import { answerTo } from './answers.ts'
import { hearOrInject, injectUnknown } from './injected.ts'
import { type JsonCursor, shown } from './json-cursor.ts'
import type { TranscriptBuilder } from './transcript-builder.ts'

/** Reads one message of the Anthropic format into the transcript. @throws TranscriptError */
export function readAnthropic(message: JsonCursor, transcript: TranscriptBuilder): void {
  const role = message.at('role')
  switch (role.value) {
    case 'user':
      return readUser(message, transcript)
    case 'assistant':
      return readAssistant(message, transcript)
    case 'system':
      return transcript.instruct(textsOf(message.at('content'), transcript))
    default:
      return injectUnknown(message, '"user" or "assistant"', () => textsOf(message.at('content'), transcript), transcript)
  }
}

/** The system prompt of a body: text, or blocks of it. */
export function systemOf(body: JsonCursor, transcript: TranscriptBuilder): string | undefined {
  return body.lacks('system') ? undefined : joined(textsOf(body.at('system'), transcript))
}

function readUser(message: JsonCursor, transcript: TranscriptBuilder): void {
  const texts: TextBlock[] = []
  for (const block of blocksOf(message.at('content'))) {
    if (typeof block.value === 'string' || block.at('type').value !== 'tool_result') texts.push(...textOf(block, transcript))
    else readResult(block, transcript)
  }
  if (texts.length > 0) hearOrInject(message, texts, transcript)
}

function readResult(block: JsonCursor, transcript: TranscriptBuilder): void {
  const isError = !block.lacks('is_error') && block.at('is_error').flag()
  const result = block.lacks('content') ? '' : joined(textsOf(block.at('content'), transcript))
  answerTo(block, 'tool_use_id', result, isError, transcript)
}

function readAssistant(message: JsonCursor, transcript: TranscriptBuilder): void {
  const blocks: ModelBlock[] = []
  const calls = []
  for (const block of message.lacks('content') ? [] : blocksOf(message.at('content'))) {
    const type = typeof block.value === 'string' ? 'text' : block.at('type').value
    if (type === 'tool_use') {
      const id = block.lacks('id') ? transcript.freshId() : block.at('id').words('text')
      calls.push({ id, name: block.at('name').words('the name of a tool'), arguments: JSON.stringify(block.at('input').value ?? {}) })
    } else if (type === 'thinking') blocks.push({ type: 'reasoning', text: block.at('thinking').text('text') })
    else if (type !== 'redacted_thinking') blocks.push(...textOf(block, transcript))
  }
  transcript.say(
    blocks.filter((block) => block.type === 'tool-call' || block.text !== ''),
    calls,
  )
}

/** Text stands for one block of it. */
function blocksOf(content: JsonCursor): readonly JsonCursor[] {
  return typeof content.value === 'string' ? [content] : content.items('text or an array of blocks')
}

function textsOf(content: JsonCursor, transcript: TranscriptBuilder): TextBlock[] {
  return blocksOf(content).flatMap((block) => textOf(block, transcript))
}

const MEDIA = ['image', 'document']

function textOf(block: JsonCursor, transcript: TranscriptBuilder): TextBlock[] {
  if (typeof block.value === 'string') return [{ type: 'text', text: block.value }]
  const type = block.at('type')
  if (type.value === 'text') return [{ type: 'text', text: block.at('text').text('text') }]
  if (MEDIA.includes(type.value as string)) return [{ type: 'text', text: `[${String(type.value)} left out]` }]
  transcript.note(`${type.path}: ${shown(type.value)} is left out`)
  return []
}

function joined(blocks: readonly TextBlock[]): string {
  return blocks.map(({ text }) => text).join('')
}
