import type { ModelBlock, TextBlock } from '@loopguard/llm'
import { answerTo, argumentsOf } from './answers.ts'
import { hearOrInject, injectUnknown } from './injected.ts'
import { type JsonCursor, shown } from './json-cursor.ts'
import type { BodyShape } from './records.ts'
import type { RecordedCall } from './transcript.ts'
import type { TranscriptBuilder } from './transcript-builder.ts'

/** A request, a response, or a record of both. */
export const RESPONSES_BODY: BodyShape = {
  isBody({ value }) {
    const { type, role, input: asked, output } = Object(value) as Readonly<Record<string, unknown>>
    return type === undefined && role === undefined && (asked ?? output ?? undefined) !== undefined
  },
  recordsIn: (body) => [...input(body), ...(body.lacks('output') ? [] : body.at('output').items('an array of items'))],
  goesOn: (body) => typeof body.at('previous_response_id').value === 'string',
}

/** Text stands for one message of the user. */
function input(body: JsonCursor): readonly JsonCursor[] {
  if (body.lacks('input')) return []
  const given = body.at('input')
  return typeof given.value === 'string' ? [given] : given.items('text or an array of items')
}

/** Reads items of the OpenAI Responses API. Those of the model that follow one another are one answer. @throws TranscriptError */
export function readResponses(items: readonly JsonCursor[], transcript: TranscriptBuilder): void {
  const reader = new Items(transcript)
  for (const item of items) reader.read(item)
  reader.endAnswer()
}

class Items {
  private readonly transcript: TranscriptBuilder
  private blocks: ModelBlock[] = []
  private calls: Omit<RecordedCall, 'result' | 'isError'>[] = []

  constructor(transcript: TranscriptBuilder) {
    this.transcript = transcript
  }

  read(item: JsonCursor): void {
    if (typeof item.value === 'string') return this.hear(() => this.transcript.hear([{ type: 'text', text: item.text('text') }]))
    const type = item.at('type')
    switch (item.lacks('type') ? 'message' : type.value) {
      case 'message':
        return this.message(item)
      case 'reasoning':
        return this.reasoning(item)
      case 'function_call':
        return this.call(item, 'arguments')
      case 'custom_tool_call':
        return this.call(item, 'input')
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.hear(() => answerTo(item, 'call_id', wordsOf(item.at('output')), false, this.transcript))
      default:
        this.transcript.note(`${type.path}: ${shown(type.value)} is left out`)
    }
  }

  endAnswer(): void {
    const { blocks, calls } = this
    if (blocks.length === 0 && calls.length === 0) return
    this.blocks = []
    this.calls = []
    this.transcript.say(blocks, calls)
  }

  private hear(read: () => void): void {
    this.endAnswer()
    read()
  }

  private message(item: JsonCursor): void {
    const role = item.at('role').value
    if (role === 'assistant') {
      this.blocks.push(...partsOf(item.at('content')).filter(({ text }) => text !== ''))
      return
    }
    this.hear(() => {
      const content = (): TextBlock[] => partsOf(item.at('content'))
      if (role === 'user') hearOrInject(item, content(), this.transcript)
      else if (role === 'system' || role === 'developer') this.transcript.instruct(content())
      else injectUnknown(item, '"system", "developer", "user" or "assistant"', content, this.transcript)
    })
  }

  private reasoning(item: JsonCursor): void {
    const text = item.lacks('summary')
      ? ''
      : partsOf(item.at('summary'))
          .map((part) => part.text)
          .join('\n')
    if (text !== '') this.blocks.push({ type: 'reasoning', text })
  }

  private call(item: JsonCursor, key: 'arguments' | 'input'): void {
    const id = item.lacks('call_id') ? this.transcript.freshId() : item.at('call_id').words('text')
    this.calls.push({ id, name: item.at('name').words('the name of a tool'), arguments: argumentsOf(item, key) })
  }
}

const TEXTS = ['input_text', 'output_text', 'summary_text', 'text']

function partsOf(content: JsonCursor): TextBlock[] {
  if (typeof content.value === 'string') return [{ type: 'text', text: content.value }]
  return content.items('text or an array of parts').map((part): TextBlock => {
    const type = part.at('type').value
    if (TEXTS.includes(type as string)) return { type: 'text', text: part.at('text').text('text') }
    if (type === 'refusal') return { type: 'text', text: part.at('refusal').text('text') }
    return { type: 'text', text: `[${part.at('type').words('the type of a part')} left out]` }
  })
}

function wordsOf(output: JsonCursor): string {
  return output.value === null || output.value === undefined
    ? ''
    : partsOf(output)
        .map(({ text }) => text)
        .join('')
}
