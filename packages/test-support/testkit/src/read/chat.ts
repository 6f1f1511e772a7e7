import { CallId, type ModelBlock, type TextBlock } from '@loopguard/llm'
import { answerTo, argumentsOf } from './answers.ts'
import { hearOrInject, injectUnknown } from './injected.ts'
import type { JsonCursor } from './json-cursor.ts'
import type { TranscriptBuilder } from './transcript-builder.ts'

const ROLES = '"system", "developer", "user", "assistant", "tool" or "function"'

/** Reads one message of the chat-completions format into the transcript. @throws TranscriptError */
export function readChat(message: JsonCursor, transcript: TranscriptBuilder): void {
  const role = message.at('role')
  switch (role.value) {
    case 'system':
    case 'developer':
      return transcript.instruct(contentOf(message))
    case 'user':
      return hearOrInject(message, contentOf(message), transcript)
    case 'assistant':
      return readAssistant(message, transcript)
    case 'tool':
      return answerTo(message, 'tool_call_id', textOf(message), isError(message), transcript)
    case 'function': {
      const name = message.at('name')
      if (!transcript.answerByName(name.text('the name of a function'), textOf(message), isError(message)))
        throw name.fault('the name of an earlier function call that has no result yet')
      return
    }
    default:
      return injectUnknown(message, ROLES, () => contentOf(message), transcript)
  }
}

function readAssistant(message: JsonCursor, transcript: TranscriptBuilder): void {
  const blocks: ModelBlock[] = []
  // Not in the format proper; servers that show the model's reasoning put it there.
  if (typeof message.at('reasoning_content').value === 'string')
    blocks.push({ type: 'reasoning', text: message.at('reasoning_content').text('text') })
  if (!message.lacks('content')) blocks.push(...contentOf(message))
  if (!message.lacks('refusal')) blocks.push({ type: 'text', text: message.at('refusal').text('text or null') })
  const calls = message.lacks('tool_calls')
    ? []
    : message
        .at('tool_calls')
        .items('an array of tool calls or null')
        .map((call) => readCall(call, transcript))
  if (!message.lacks('function_call')) calls.push(readFunction(message.at('function_call'), 'arguments', transcript.freshId()))
  transcript.say(
    blocks.filter((block) => block.type === 'tool-call' || block.text !== ''),
    calls,
  )
}

interface ReadCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

function readCall(call: JsonCursor, transcript: TranscriptBuilder): ReadCall {
  const type = call.at('type')
  const id = call.lacks('id') ? transcript.freshId() : call.at('id').words('text')
  if (type.value === 'custom') return readFunction(call.at('custom'), 'input', id)
  if (type.value !== 'function' && !call.lacks('type')) throw type.fault('"function" or "custom"')
  return readFunction(call.at('function'), 'arguments', id)
}

function readFunction(body: JsonCursor, key: 'arguments' | 'input', id: string): ReadCall {
  const name = body.at('name').words('the name of a tool')
  return { id: CallId(id), name, arguments: argumentsOf(body, key) }
}

/** Text, or an array of parts; what is no text is named and left out, since the replay has no place for it. */
function contentOf(message: JsonCursor): TextBlock[] {
  const content = message.at('content')
  if (typeof content.value === 'string') return [{ type: 'text', text: content.value }]
  if (!Array.isArray(content.value)) throw content.fault('text or an array of parts')
  return content.items('parts').map((part) => ({ type: 'text', text: partOf(part) }))
}

function textOf(message: JsonCursor): string {
  return message.at('content').value === null
    ? ''
    : contentOf(message)
        .map((block) => block.text)
        .join('')
}

/** Not in the format proper; recorders that know put it there. */
function isError(message: JsonCursor): boolean {
  return !message.lacks('is_error') && message.at('is_error').flag()
}

const MEDIA = ['image_url', 'input_audio', 'file']

function partOf(part: JsonCursor): string {
  const type = part.at('type')
  if (type.value === 'text') return part.at('text').text('text')
  if (type.value === 'refusal') return part.at('refusal').text('text')
  if (MEDIA.includes(type.value as string)) return `[${String(type.value)} left out]`
  throw type.fault('"text", "refusal", "image_url", "input_audio" or "file"')
}
