import { LlmAdapter, type LlmRequest, type SessionId, type StreamChunk } from '@loopguard/llm'

type Source = (request: LlmRequest) => AsyncIterable<StreamChunk>

/** A model for each session, so that many agents share one host. */
export class Models extends LlmAdapter {
  private readonly sources = new Map<SessionId, Source>()

  give(session: SessionId, source: Source): void {
    this.sources.set(session, source)
  }

  stream(request: LlmRequest): AsyncIterable<StreamChunk> {
    const source = this.sources.get(request.sessionId)
    if (source === undefined) throw new Error(`no model for session ${request.sessionId}`)
    return source(request)
  }
}
