import type { SessionUpdate } from '@agentclientprotocol/sdk'
import type { ReasoningBlock, StreamChunk, TextBlock } from '@loopguard/llm'
import { said } from './said.ts'

/** What a client has been told of one attempt before it was in the log. */
export class Streamed {
  /** Of the message. */
  readonly id: string
  /** By the index of its block. */
  private readonly texts = new Map<number, string>()
  private read = 0
  /** The beginning was missed: nothing more of this attempt is told before its end. */
  private isLate = false

  constructor(id: string) {
    this.id = id
  }

  get isEmpty(): boolean {
    return this.told().length === 0
  }

  take(chunk: StreamChunk): SessionUpdate[] {
    if (chunk.type === 'block-start') this.texts.set(chunk.index, '')
    if ((chunk.type !== 'text-delta' && chunk.type !== 'reasoning-delta') || chunk.text === '') return []
    const text = this.texts.get(chunk.index)
    this.isLate ||= text === undefined
    if (this.isLate || text === undefined) return []
    this.texts.set(chunk.index, text + chunk.text)
    return [said(chunk.type === 'text-delta' ? 'agent_message_chunk' : 'agent_thought_chunk', chunk.text, this.id)]
  }

  /** What is left to tell of the next block of the message. */
  restOf({ text }: TextBlock | ReasoningBlock): string {
    if (text === '') return ''
    const told = this.told()[this.read++] ?? ''
    return text.startsWith(told) ? text.slice(told.length) : text
  }

  private told(): string[] {
    return [...this.texts].sort(([a], [b]) => a - b).flatMap(([, text]) => (text === '' ? [] : [text]))
  }
}
