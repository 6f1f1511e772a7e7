import { LlmAdapter, type LlmRequest, type StreamChunk } from '@loopguard/llm'
import type { Gate } from '@loopguard/testkit'

type Source = (request: LlmRequest) => AsyncIterable<StreamChunk>

/** A model whose answers are streams that the test writes itself, one for each request. */
export class Streams extends LlmAdapter {
  readonly requests: LlmRequest[] = []
  private readonly sources: readonly Source[]

  constructor(...sources: readonly Source[]) {
    super()
    this.sources = sources
  }

  stream(request: LlmRequest): AsyncIterable<StreamChunk> {
    const source = this.sources[this.requests.length]
    this.requests.push(request)
    if (source === undefined) throw new Error(`no stream for request ${this.requests.length}`)
    return source(request)
  }
}

/** Says `words`, opens `said`, and goes on when `more` opens; an abort ends it. */
export function pausing(words: string, said: Gate, more: Gate): Source {
  return async function* ({ signal }) {
    yield { type: 'block-start', index: 0, blockType: 'text' }
    yield { type: 'text-delta', index: 0, text: words }
    said.open()
    await more.wait(signal)
    yield { type: 'block-end', index: 0, block: { type: 'text', text: words } }
    yield { type: 'finish', reason: { kind: 'stop' } }
  }
}
