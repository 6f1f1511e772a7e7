import { getEventListeners } from 'node:events'
import type { Context } from '@deepseek-ai/cordis'
import * as aiSdkModel from '@loopguard/ai-sdk-model'
import {
  type ContentBlock,
  createAssistantMessage,
  createToolResultMessage,
  createUserMessage,
  type FinishReason,
  type LlmFailure,
  type LlmRequest,
  type Message,
  SessionId,
  StreamAssembler,
  type StreamChunk,
  text,
} from '@loopguard/llm'
import { createHarness, type Harness, type HarnessOptions } from '@loopguard/testkit'
import { frame, type ModelServer, type ServerEntry, startModelServer } from '@loopguard/testkit/model-server'
import { onTestFinished, vi } from 'vitest'

/** The kinds for which every rule of the stream is tested. */
export const BOTH = ['openai-compatible', 'anthropic'] as const

export const KEY = 'sk-test-0123456789abcdefSECRET'

export interface Told {
  readonly chunks: readonly StreamChunk[]
  readonly finish: FinishReason
  /** Throws when the request did not fail. */
  readonly failure: LlmFailure
  /** The whole blocks. */
  readonly content: readonly ContentBlock[]
  /** What is kept of an answer that was cut. */
  readonly partial: readonly ContentBlock[]
  readonly text: string
}

export interface Stage {
  readonly server: ModelServer
  readonly harness: Harness
  readonly ctx: Context
  /** Asks once, and hears it to its end. */
  readonly ask: (options?: Partial<LlmRequest>) => Promise<Told>
  readonly stream: (options?: Partial<LlmRequest>) => AsyncIterable<StreamChunk>
}

export interface StageOptions {
  readonly kind?: aiSdkModel.KindName | undefined
  readonly entries?: readonly ServerEntry[]
  readonly config?: Partial<aiSdkModel.Config>
  readonly harness?: HarnessOptions
}

/** A server, and a host with one provider, `served`, that leads to it. The companions watch. */
export async function stage({
  kind = 'openai-compatible',
  entries = [],
  config = {},
  harness: options,
}: StageOptions = {}): Promise<Stage> {
  const server = await startModelServer(entries)
  onTestFinished(() => server.close())
  vi.stubEnv('SERVED_KEY', KEY)
  onTestFinished(() => void vi.unstubAllEnvs())
  const row = { provider: 'served', kind, baseURL: server.baseURL, apiKeyEnv: 'SERVED_KEY', ...config }
  const harness = await createHarness({ ...options, plugins: [[aiSdkModel, row], ...(options?.plugins ?? [])] })
  onTestFinished(() => harness.dispose())
  const stream: Stage['stream'] = (more) => harness.ctx.llm.stream(requestOf(more))
  return { server, harness, ctx: harness.ctx, stream, ask: (more) => hear(stream(more)) }
}

export function requestOf(options: Partial<LlmRequest> = {}): LlmRequest {
  const { signal } = new AbortController()
  return { provider: 'served', model: 'any', messages: [user('hi')], signal, sessionId: SessionId('test'), ...options }
}

/** Hears a stream to its end. */
export async function hear(stream: AsyncIterable<StreamChunk>): Promise<Told> {
  const assembler = new StreamAssembler()
  const chunks: StreamChunk[] = []
  for await (const chunk of stream) {
    chunks.push(chunk)
    assembler.push(chunk)
  }
  const { finish } = assembler
  if (finish === undefined) throw new Error('no finish')
  return {
    chunks,
    finish,
    get failure() {
      if (!('failure' in finish)) throw new Error(`the request did not fail, it ended with ${finish.kind}`)
      return finish.failure
    },
    content: assembler.content(),
    partial: assembler.partialContent(),
    text: chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.text : '')).join(''),
  }
}

export const user = (words: string): Message => createUserMessage({ content: [text(words)], source: { kind: 'user' } })
export const assistant = (content: readonly ContentBlock[], provider = 'served'): Message =>
  createAssistantMessage({ content, source: { provider, model: 'any' } })
export const result = (callId: string, words: string, isError = false): Message =>
  createToolResultMessage({ callId: callId as never, content: [text(words)], isError })

export const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length

/** One event of a kind that says nothing of the answer. */
export const unknownEvent: string = frame({ type: 'vendor.note', note: 'nothing of the answer' }, 'vendor.note')

/** An error in place of an event, as the API of this kind sends it. */
export function errorEvent(kind: string, message: string, type = 'server_error'): string {
  if (kind === 'anthropic') return frame({ type: 'error', error: { type, message } }, 'error')
  return frame({ error: { message, type, code: null, param: null } })
}

/** The delta of a text that goes on. */
export function textEvent(kind: string, words: string): string {
  if (kind === 'anthropic')
    return frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: words } }, 'content_block_delta')
  return frame({
    id: 'chat-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { content: words }, finish_reason: null }],
  })
}
