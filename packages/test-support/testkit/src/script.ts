import { CallId, type FinishReason, type LlmRequest, type ModelBlock, type StreamChunk, type TokenUsage } from '@loopguard/llm'

/** One tool call that a scripted answer asks for. */
export interface ScriptedCall {
  readonly name: string
  /** JSON to be sent as text; a string is sent as it is, so that malformed text can be scripted. */
  readonly arguments: unknown
  /** Default: `call_<n>`, counted over the whole script. */
  readonly id?: string
}

/** How a scripted answer ends: a kind, or a whole reason when there is a failure to carry. */
export type ScriptedFinish = 'stop' | 'tool-calls' | 'max-tokens' | FinishReason

/** One answer of the model, as text and calls. */
export interface ScriptedAnswer {
  readonly text?: string
  readonly calls?: readonly ScriptedCall[]
  /** Default: `tool-calls` when there are calls, else `stop`. */
  readonly finish?: ScriptedFinish
  /** How many requests in a row get this answer, an integer >= 1 or `Infinity`. Default 1. */
  readonly repeat?: number
  /** Reported as it is; without it no usage is reported. */
  readonly usage?: TokenUsage
}

/** What one request is answered with. `hang` waits until the request is aborted. */
export type ScriptedReply = ScriptedAnswer | readonly StreamChunk[] | 'hang'

/** An entry of a script. A function is asked when its turn comes; `index` counts all requests from 0. */
export type ScriptEntry = ScriptedReply | ((request: LlmRequest, index: number) => ScriptedReply | Promise<ScriptedReply>)

/** The chunks of one answer. `nextId` names the calls that bring no id. */
export function chunksOf({ text, calls = [], finish, usage }: ScriptedAnswer, nextId: () => string): StreamChunk[] {
  const blocks: ModelBlock[] = text === undefined || text === '' ? [] : [{ type: 'text', text }]
  for (const call of calls) {
    const raw = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {})
    blocks.push({ type: 'tool-call', id: CallId(call.id ?? nextId()), name: call.name, arguments: raw })
  }
  return [
    ...blocks.flatMap((block, index) => chunksOfBlock(block, index)),
    ...(usage === undefined ? [] : [{ type: 'usage' as const, usage }]),
    { type: 'finish', reason: reasonOf(finish ?? (calls.length > 0 ? 'tool-calls' : 'stop')) },
  ]
}

/** The three chunks of a block whose text comes in one piece. */
export function chunksOfBlock(block: ModelBlock, index: number): StreamChunk[] {
  const delta: StreamChunk =
    block.type === 'tool-call'
      ? { type: 'tool-call-delta', index, id: block.id, name: block.name, argumentsDelta: block.arguments }
      : { type: block.type === 'text' ? 'text-delta' : 'reasoning-delta', index, text: block.text }
  return [{ type: 'block-start', index, blockType: block.type }, delta, { type: 'block-end', index, block }]
}

function reasonOf(finish: ScriptedFinish): FinishReason {
  return typeof finish === 'string' ? { kind: finish } : finish
}
