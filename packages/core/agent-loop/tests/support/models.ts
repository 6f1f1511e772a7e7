import { LlmAdapter, type LlmRequest, type SessionId, type StreamChunk } from '@loopguard/llm'
import { ScriptedModel, type ScriptEntry } from '@loopguard/testkit'

/** A script for each session, so that many agents share one host. */
export class Models extends LlmAdapter {
  private readonly models = new Map<SessionId, ScriptedModel>()

  give(session: SessionId, script: readonly ScriptEntry[]): ScriptedModel {
    const model = new ScriptedModel(script)
    this.models.set(session, model)
    return model
  }

  stream(request: LlmRequest): AsyncIterable<StreamChunk> {
    const model = this.models.get(request.sessionId)
    if (model === undefined) throw new Error(`no script for session ${request.sessionId}`)
    return model.stream(request)
  }
}
