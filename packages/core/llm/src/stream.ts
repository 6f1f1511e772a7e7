import { HarnessError } from '@loopguard/kit'
import type { LlmFailure } from './errors.ts'
import type { CallId } from './ids.ts'
import type { ContentBlock, ReasoningBlock, TextBlock, ToolCallBlock } from './message.ts'

/** What one request cost. What a provider does not say is absent, never `undefined`. */
export interface TokenUsage {
  /** The total, those of the cache included. */
  readonly inputTokens: number
  /** The total, reasoning included. */
  readonly outputTokens: number
  /** The part of `inputTokens` that came from the provider's cache. */
  readonly cacheReadTokens?: number
  /** The part of `inputTokens` that was written to it. */
  readonly cacheWriteTokens?: number
  /** The part of `outputTokens` that is reasoning. */
  readonly reasoningTokens?: number
}

/** Why a stream ended. `error` and `aborted` carry the failure. */
export type FinishReason =
  { readonly kind: 'stop' | 'tool-calls' | 'max-tokens' } | { readonly kind: 'error' | 'aborted'; readonly failure: LlmFailure }

/** A block that a model produces. */
export type ModelBlock = TextBlock | ReasoningBlock | ToolCallBlock

/**
 * What an adapter yields. Each block is `block-start`, its deltas, `block-end` with the whole block, under one `index`;
 * blocks may interleave. `finish` comes last and once.
 */
export type StreamChunk =
  | { readonly type: 'block-start'; readonly index: number; readonly blockType: ModelBlock['type'] }
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly index: number; readonly text: string }
  | {
      readonly type: 'tool-call-delta'
      readonly index: number
      readonly id: CallId
      readonly name?: string
      readonly argumentsDelta: string
    }
  | { readonly type: 'block-end'; readonly index: number; readonly block: ModelBlock }
  | { readonly type: 'usage'; readonly usage: TokenUsage }
  | { readonly type: 'finish'; readonly reason: FinishReason }

interface OpenBlock {
  readonly type: ModelBlock['type']
  parts: string[]
  id?: CallId
  name?: string
  done?: ModelBlock
}

/** Gathers chunks into blocks, in the order of their index. One assembler serves one stream. */
export class StreamAssembler {
  usage: TokenUsage | undefined
  finish: FinishReason | undefined
  private readonly blocks = new Map<number, OpenBlock>()

  /** @throws HarnessError `BAD_STREAM` on a delta or an end of a block that was not started, or of another type. */
  push(chunk: StreamChunk): void {
    switch (chunk.type) {
      case 'block-start':
        if (this.blocks.has(chunk.index)) throw badStream(`block ${chunk.index} was started twice`)
        this.blocks.set(chunk.index, { type: chunk.blockType, parts: [] })
        return
      case 'text-delta':
        this.open(chunk.index, 'text').parts.push(chunk.text)
        return
      case 'reasoning-delta':
        this.open(chunk.index, 'reasoning').parts.push(chunk.text)
        return
      case 'tool-call-delta': {
        const block = this.open(chunk.index, 'tool-call')
        block.id = chunk.id
        if (chunk.name !== undefined) block.name = chunk.name
        block.parts.push(chunk.argumentsDelta)
        return
      }
      case 'block-end':
        this.open(chunk.index, chunk.block.type).done = chunk.block
        return
      case 'usage':
        this.usage = chunk.usage
        return
      case 'finish':
        this.finish = chunk.reason
        return
      default:
        throw badStream(`unknown chunk type ${JSON.stringify((chunk as { type?: unknown }).type)}`)
    }
  }

  /** The whole blocks so far, in index order. Blocks that did not end are left out. */
  content(): ContentBlock[] {
    return this.sorted().flatMap((block) => (block.done === undefined ? [] : [block.done]))
  }

  /**
   * What can be kept of a stream that was cut: whole blocks of text and reasoning as they are, the text so far of others, no tool call.
   * What is empty is left out, unless it carries provider data.
   */
  partialContent(): ContentBlock[] {
    return this.sorted().flatMap(({ type, parts, done }): ContentBlock[] => {
      if (type === 'tool-call' || done?.type === 'tool-call') return []
      const block: TextBlock | ReasoningBlock = done ?? { type, text: parts.join('') }
      return block.text === '' && block.providerData === undefined ? [] : [block]
    })
  }

  private sorted(): OpenBlock[] {
    return [...this.blocks].sort(([a], [b]) => a - b).map(([, block]) => block)
  }

  private open(index: number, type: ModelBlock['type']): OpenBlock {
    const block = this.blocks.get(index)
    if (block === undefined) throw badStream(`block ${index} was not started`)
    if (block.done !== undefined) throw badStream(`block ${index} has ended already`)
    if (block.type !== type) throw badStream(`block ${index} is a ${block.type}, not a ${type}`)
    return block
  }
}

function badStream(why: string): HarnessError {
  return new HarnessError(`malformed model stream: ${why}`, 'BAD_STREAM')
}
