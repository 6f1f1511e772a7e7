import { CallId, type FinishReason, type LlmFailure, type ModelBlock, type StreamChunk, type TokenUsage } from '@loopguard/llm'
import type { YamlCursor } from './yaml-cursor.ts'

/** Kinds of a finish that carry no failure. */
export const REASON_KINDS = ['stop', 'tool-calls', 'max-tokens'] as const

const CHUNK_TYPES = ['block-start', 'text-delta', 'reasoning-delta', 'tool-call-delta', 'block-end', 'usage', 'finish'] as const
const BLOCK_TYPES = ['text', 'reasoning', 'tool-call'] as const
const CHUNK_KEYS = ['type', 'index', 'blockType', 'text', 'id', 'name', 'argumentsDelta', 'block', 'usage', 'reason'] as const

const USAGE_KEYS = ['inputTokens', 'outputTokens'] as const
const USAGE_PARTS = ['cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const

type Fields = Partial<Record<(typeof CHUNK_KEYS)[number], YamlCursor>>

/** One chunk of a script file. @throws ScriptError */
export function chunkOf(at: YamlCursor): StreamChunk {
  const fields: Fields = at.map('a chunk', CHUNK_KEYS)
  const need = (key: keyof Fields): YamlCursor => fields[key] ?? at.refuse(`a chunk with \`${key}\``)
  const text = (key: keyof Fields): string => need(key).text(`\`${key}\` to be text`)
  const type = need('type').oneOf(CHUNK_TYPES)
  if (type === 'usage') return { type, usage: usageOf(need('usage')) }
  if (type === 'finish') return { type, reason: reasonOf(need('reason')) }
  const index = need('index').integer('`index` to be an integer >= 0', 0)
  switch (type) {
    case 'block-start':
      return { type, index, blockType: need('blockType').oneOf(BLOCK_TYPES) }
    case 'block-end':
      return { type, index, block: blockOf(need('block')) }
    case 'tool-call-delta':
      return {
        type,
        index,
        id: CallId(text('id')),
        argumentsDelta: text('argumentsDelta'),
        ...(fields.name !== undefined && { name: text('name') }),
      }
    case 'text-delta':
    case 'reasoning-delta':
      return { type, index, text: text('text') }
  }
}

function blockOf(at: YamlCursor): ModelBlock {
  const block = at.map('a block', ['type', 'text', 'id', 'name', 'arguments'])
  const text = (key: keyof typeof block): string => (block[key] ?? at.refuse(`a block with \`${key}\``)).text(`\`${key}\` to be text`)
  const type = (block.type ?? at.refuse('a block with `type`')).oneOf(BLOCK_TYPES)
  if (type !== 'tool-call') return { type, text: text('text') }
  return { type, id: CallId(text('id')), name: text('name'), arguments: text('arguments') }
}

/** @throws ScriptError */
export function reasonOf(at: YamlCursor): FinishReason {
  const { kind, failure } = at.map('a map of `kind` and `failure`', ['kind', 'failure'])
  const chosen = (kind ?? at.refuse('a `kind`')).oneOf(['error', 'aborted', ...REASON_KINDS])
  if (chosen !== 'error' && chosen !== 'aborted') return { kind: chosen }
  return { kind: chosen, failure: failureOf(failure ?? at.refuse('a `failure`')) }
}

/** @throws ScriptError */
export function usageOf(at: YamlCursor): TokenUsage {
  const counts = at.map('a map of `inputTokens` and `outputTokens`', [...USAGE_KEYS, ...USAGE_PARTS])
  const count = (key: keyof TokenUsage): number => (counts[key] ?? at.refuse(`\`${key}\``)).integer(`\`${key}\` to be an integer >= 0`, 0)
  const parts = USAGE_PARTS.filter((key) => counts[key] !== undefined).map((key) => [key, count(key)] as const)
  return { inputTokens: count('inputTokens'), outputTokens: count('outputTokens'), ...Object.fromEntries(parts) }
}

function failureOf(at: YamlCursor): LlmFailure {
  const failure = at.map('a failure', ['message', 'code', 'status', 'retryAfterMs', 'requestId', 'retryable'])
  const text = (key: 'message' | 'code'): string => (failure[key] ?? at.refuse(`a failure with \`${key}\``)).text(`\`${key}\` to be text`)
  const { status, retryAfterMs, requestId, retryable } = failure
  return {
    message: text('message'),
    code: text('code'),
    ...(status !== undefined && { status: status.integer('`status` to be an integer >= 0', 0) }),
    ...(retryAfterMs !== undefined && { retryAfterMs: retryAfterMs.integer('`retryAfterMs` to be an integer >= 0', 0) }),
    ...(requestId !== undefined && { requestId: requestId.text('`requestId` to be text') }),
    ...(retryable !== undefined && { retryable: flagOf(retryable) }),
  }
}

function flagOf(at: YamlCursor): boolean {
  const { scalar } = at
  return typeof scalar === 'boolean' ? scalar : at.refuse('`retryable` to be true or false')
}
