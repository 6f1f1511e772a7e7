import { createHash } from 'node:crypto'
import type {
  LanguageModelV4Message,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { JsonValue } from '@loopguard/kit'
import {
  type ContentBlock,
  type History,
  historyOf,
  type LlmRequest,
  type Message,
  type ToolCallBlock,
  type ToolResultBlock,
} from '@loopguard/llm'

/** A part of what the model said, as provider packages take it. */
type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number]

/** A call as it was sent, for the result that answers it. */
interface SentCall {
  readonly id: string
  readonly name: string
}

type CallOf = (id: string) => SentCall | undefined

interface Written {
  readonly messages: readonly LanguageModelV4Message[]
  readonly calls: readonly (readonly [string, SentCall])[]
}

/** Ids that every provider takes. */
const SAFE_ID = /^[\w-]{1,64}$/

/** Writes histories as one provider takes them. Messages never change, so each is written once, however often it is sent. */
export class PromptWriter {
  private readonly provider: string
  private readonly sendReasoning: boolean
  private readonly written = new WeakMap<Message, Written>()

  constructor(provider: string, sendReasoning: boolean) {
    this.provider = provider
    this.sendReasoning = sendReasoning
  }

  write(request: Pick<LlmRequest, 'system' | 'messages'>): LanguageModelV4Message[] {
    const { system } = request
    const history = historyOf(request)
    const calls = new CallsBefore(history, (message) => this.written.get(message)?.calls)
    const sent: LanguageModelV4Message[] = system === undefined ? [] : [{ role: 'system', content: system }]
    for (let place = 0; place < history.length; place++) {
      const message = history.at(place) as Message
      let written = this.written.get(message)
      if (written === undefined) this.written.set(message, (written = this.message(message, (id) => calls.find(id, place))))
      // Histories are long, and iterators of so many short lists would be most of what a request allocates.
      for (let index = 0; index < written.messages.length; index++) sent.push(written.messages[index] as LanguageModelV4Message)
    }
    return sent
  }

  private message(message: Message, callOf: CallOf): Written {
    if (message.role === 'assistant') return this.assistant(message)
    const results = message.content.filter((block) => block.type === 'tool-result')
    const text = message.content.filter((block) => block.type !== 'tool-result').flatMap((block) => textPart(textOf(block)))
    return {
      messages: [
        ...(results.length === 0
          ? []
          : [
              {
                role: 'tool' as const,
                content: results.map((block) => resultPart(block, callOf(block.toolCallId))),
              },
            ]),
        ...(text.length === 0 ? [] : [{ role: 'user' as const, content: text }]),
      ],
      calls: [],
    }
  }

  private assistant({ content, source }: Message): Written {
    const isOwn = source.kind === 'model' && source.provider === this.provider
    const calls: [string, SentCall][] = []
    const parts = content.flatMap((block): AssistantPart[] => {
      const data =
        isOwn && 'providerData' in block && block.providerData !== undefined
          ? { providerOptions: block.providerData as SharedV4ProviderOptions }
          : {}
      switch (block.type) {
        case 'reasoning':
          return isOwn && this.sendReasoning && (block.text !== '' || 'providerOptions' in data)
            ? [{ type: 'reasoning', text: block.text, ...data }]
            : []
        case 'tool-call': {
          const id = isOwn || SAFE_ID.test(block.id) ? block.id : mapped(block.id)
          calls.push([block.id, { id, name: block.name }])
          return [{ type: 'tool-call', toolCallId: id, toolName: block.name, input: inputOf(block), ...data }]
        }
        case 'text':
          return block.text === '' && !('providerOptions' in data) ? [] : [{ type: 'text', text: block.text, ...data }]
        case 'tool-result':
        default:
          return textPart(textOf(block))
      }
    })
    // Reasoning belongs to what it led to, and providers refuse it without.
    while (parts.at(-1)?.type === 'reasoning') parts.pop()
    return { messages: parts.length === 0 ? [] : [{ role: 'assistant', content: parts }], calls }
  }
}

/** The calls of a history, as they were sent. A result stands behind the message that called, so most are found without reading on. */
class CallsBefore {
  private readonly history: History
  private readonly callsOf: (message: Message) => Written['calls'] | undefined
  private readonly known = new Map<string, SentCall>()
  private read = 0

  constructor(history: History, callsOf: (message: Message) => Written['calls'] | undefined) {
    this.history = history
    this.callsOf = callsOf
  }

  /** The latest call of that id before a place that only grows; all messages before it are written. */
  find(id: string, place: number): SentCall | undefined {
    return this.nearest(place).findLast(([called]) => called === id)?.[1] ?? this.all(place).get(id)
  }

  private nearest(place: number): Written['calls'] {
    for (let before = place - 1; before >= this.read; before--) {
      const calls = this.calls(before)
      if (calls.length > 0) return calls
    }
    return []
  }

  private all(place: number): ReadonlyMap<string, SentCall> {
    for (; this.read < place; this.read++) for (const [id, call] of this.calls(this.read)) this.known.set(id, call)
    return this.known
  }

  private calls(place: number): Written['calls'] {
    return this.callsOf(this.history.at(place) as Message) ?? []
  }
}

function resultPart({ toolCallId, content, isError }: ToolResultBlock, call: SentCall | undefined): LanguageModelV4ToolResultPart {
  const { id, name } = call ?? { id: toolCallId, name: 'unknown' }
  const output = { type: isError === true ? ('error-text' as const) : ('text' as const), value: content.map(textOf).join('\n') }
  return { type: 'tool-result', toolCallId: id, toolName: name, output }
}

function textPart(text: string): LanguageModelV4TextPart[] {
  // Providers refuse a part without text.
  return text === '' ? [] : [{ type: 'text', text }]
}

/** Blocks of types that came later, or from a plugin, are told as they stand in the log. */
function textOf(block: ContentBlock): string {
  return block.type === 'text' ? block.text : JSON.stringify(block)
}

/** What a model wrote as arguments goes back as an object in any case: providers refuse anything else. */
function inputOf({ arguments: raw }: ToolCallBlock): unknown {
  try {
    const value = JSON.parse(raw === '' ? '{}' : raw) as JsonValue
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { rawInvalidInput: raw }
  } catch {
    return { rawInvalidInput: raw }
  }
}

/** The same id for the same id, of letters that every provider takes. */
function mapped(id: string): string {
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`
}
