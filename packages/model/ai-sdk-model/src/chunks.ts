import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { StreamChunk, TokenUsage } from '@loopguard/llm'
import { Blocks } from './blocks.ts'
import type { Failures } from './failure.ts'

type Part = LanguageModelV4StreamPart
type Finish = Extract<Part, { type: 'finish' }>

/**
 * Our chunks for the parts of one stream. It ends with the finish; parts that have no place in a log (sources, files, pings) are left out.
 * @throws LlmError for an end that is none, and for what says nothing.
 */
export async function* chunksOf(stream: ReadableStream<Part>, failures: Failures): AsyncGenerator<StreamChunk, void, undefined> {
  const blocks = new Blocks(failures)
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value: part } = await reader.read()
      if (done) throw failures.make('STREAM_CLOSED', 'ended its answer without a reason', '')
      if (part.type === 'error') throw part.error
      if (part.type !== 'finish') yield* chunksOfPart(part, blocks)
      else return yield* ending(part, blocks, failures)
    }
  } finally {
    // Not awaited: a package that has split its stream in two answers only when both halves are given up.
    reader.cancel().catch(() => {})
  }
}

function* chunksOfPart(part: Part, blocks: Blocks): Generator<StreamChunk> {
  switch (part.type) {
    case 'text-start':
      return yield blocks.start('text', part.id, '', part.providerMetadata)
    case 'reasoning-start':
      return yield blocks.start('reasoning', part.id, '', part.providerMetadata)
    case 'text-delta':
      return yield* blocks.delta('text', part.id, part.delta, part.providerMetadata)
    case 'reasoning-delta':
      return yield* blocks.delta('reasoning', part.id, part.delta, part.providerMetadata)
    case 'text-end':
      return yield blocks.end('text', part.id, part.providerMetadata)
    case 'reasoning-end':
      return yield blocks.end('reasoning', part.id, part.providerMetadata)
    case 'tool-input-start':
      return yield blocks.start('tool-call', part.id, part.toolName, part.providerMetadata)
    case 'tool-input-delta':
      return yield* blocks.delta('tool-call', part.id, part.delta, part.providerMetadata)
    case 'tool-call':
      return yield* blocks.call(part.toolCallId, part.toolName, part.input, part.providerMetadata)
    default:
  }
}

const KINDS: Readonly<Record<string, 'stop' | 'tool-calls' | 'max-tokens'>> = {
  stop: 'stop',
  'tool-calls': 'tool-calls',
  length: 'max-tokens',
}

function* ending({ finishReason: { unified, raw }, usage }: Finish, blocks: Blocks, failures: Failures): Generator<StreamChunk> {
  const used = usageOf(usage)
  if (used !== undefined) yield { type: 'usage', usage: used }
  const kind = KINDS[unified]
  if (kind === undefined) throw badEnding(unified, raw, failures)
  if (kind !== 'max-tokens') {
    if (blocks.isOpen) throw failures.make('STREAM_CLOSED', 'ended its answer in the middle of a block', '')
    if (blocks.count === 0) throw failures.make('EMPTY_RESPONSE', 'stopped without an answer', '')
  }
  yield { type: 'finish', reason: { kind } }
}

function badEnding(unified: string, raw: string | undefined, failures: Failures): Error {
  if (unified === 'content-filter') return failures.make('CONTENT_FILTER', 'withheld the answer', raw ?? '')
  // What a package says without a reason of the provider's is its guess about a stream that was cut.
  if (raw === undefined || raw === 'interrupted') return failures.make('STREAM_CLOSED', 'ended its answer without a reason', raw ?? '')
  const isBusy = /resource|overload|unavailable/i.test(raw)
  return failures.make(isBusy ? 'SERVER' : 'BAD_FINISH', 'stopped for a reason that is not known', raw)
}

/** The packages say 0 for what a provider does not say, so that is left out. */
function usageOf({ inputTokens, outputTokens }: Finish['usage']): TokenUsage | undefined {
  if (!isCount(inputTokens.total)) return undefined
  return {
    inputTokens: inputTokens.total,
    outputTokens: isCount(outputTokens.total) ? outputTokens.total : 0,
    ...(isPart(inputTokens.cacheRead) && { cacheReadTokens: inputTokens.cacheRead }),
    ...(isPart(inputTokens.cacheWrite) && { cacheWriteTokens: inputTokens.cacheWrite }),
    ...(isPart(outputTokens.reasoning) && { reasoningTokens: outputTokens.reasoning }),
  }
}

function isCount(value: number | undefined): value is number {
  return Number.isFinite(value)
}

function isPart(value: number | undefined): value is number {
  return isCount(value) && value > 0
}
