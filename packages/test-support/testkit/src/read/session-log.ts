import type { ModelBlock, TextBlock } from '@loopguard/llm'
import { answerTo, argumentsOf } from './answers.ts'
import { hearOrInject } from './injected.ts'
import type { JsonCursor } from './json-cursor.ts'
import type { TranscriptBuilder } from './transcript-builder.ts'

/**
 * Reads the events of a session log, ours or that of the DeepSeek Harness, whose events have the same names and messages. Of all
 * types those are read that hold what the model said and read; first lines of other shapes, and types that are not known, are passed over.
 *
 * @returns the model that the log names first.
 * @throws TranscriptError for an event of a known type that lacks what it must have.
 */
export function readSessionLog(events: readonly JsonCursor[], transcript: TranscriptBuilder): string | undefined {
  let model: string | undefined
  for (const event of events) {
    // What replaces an earlier message, a summary say, is no step of the conversation.
    const { surfaceOp = 'append' } = Object(event.value) as { readonly surfaceOp?: unknown }
    if (surfaceOp !== 'append') continue
    const named = readEvent(event, transcript)
    model ??= named
  }
  return model
}

function readEvent(event: JsonCursor, transcript: TranscriptBuilder): string | undefined {
  const data = event.at('data')
  switch (event.at('type').value) {
    case 'user/message':
      hearOrInject(data, textsOf(data.at('content')), transcript)
      break
    case 'assistant/message':
      readAnswer(data.at('message').at('content'), transcript)
      break
    case 'tool/result':
      for (const block of data.at('message').at('content').items('an array of blocks')) readResult(block, transcript)
      break
    case 'request/header':
      return readHeader(data.lacks('header') ? data : data.at('header'), transcript)
    default:
  }
  return undefined
}

function readHeader(header: JsonCursor, transcript: TranscriptBuilder): string | undefined {
  const { system, model } = header.value as { readonly system?: unknown; readonly model?: unknown }
  if (typeof system === 'string') transcript.openWith(system)
  return typeof model === 'string' ? model : undefined
}

function readAnswer(content: JsonCursor, transcript: TranscriptBuilder): void {
  const blocks: ModelBlock[] = []
  const calls = []
  for (const block of content.items('an array of blocks')) {
    const type = block.at('type').value
    if (type === 'tool-call') {
      const id = block.lacks('id') ? transcript.freshId() : block.at('id').words('text')
      calls.push({ id, name: block.at('name').words('the name of a tool'), arguments: argumentsOf(block, 'arguments') })
    } else if (type === 'reasoning') blocks.push({ type, text: block.at('text').text('text') })
    else blocks.push(textOf(block))
  }
  transcript.say(blocks, calls)
}

function readResult(block: JsonCursor, transcript: TranscriptBuilder): void {
  const words = textsOf(block.at('content')).map(({ text }) => text)
  answerTo(block, 'toolCallId', words.join(''), block.at('isError').value === true, transcript)
}

function textsOf(content: JsonCursor): TextBlock[] {
  return content.items('an array of blocks').map(textOf)
}

function textOf(block: JsonCursor): TextBlock {
  const type = block.at('type')
  return { type: 'text', text: type.value === 'text' ? block.at('text').text('text') : `[${type.words('the type of a block')} left out]` }
}
