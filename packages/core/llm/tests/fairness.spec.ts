import { Context } from '@deepseek-ai/cordis'
import { type LlmRequest, LlmRuntime, SessionId, type StreamChunk } from '@loopguard/llm'
import { describe, expect, it } from 'vitest'

/** Keeps the event loop for longer than anybody may. */
function busy(): void {
  for (const until = performance.now() + 5; performance.now() < until;);
}

describe('a stream that never waits', () => {
  const request = (signal: AbortSignal): LlmRequest => ({ provider: 'p', model: 'm', messages: [], signal, sessionId: SessionId('s') })

  it('lets timers run between two chunks', async () => {
    const ctx = new Context()
    await ctx.plugin(LlmRuntime)
    ctx.llm.registerAdapter(['p'], {
      async *stream({ signal }): AsyncGenerator<StreamChunk> {
        yield { type: 'block-start', index: 0, blockType: 'text' }
        for (let n = 0; n < 50; n++) {
          signal.throwIfAborted()
          busy()
          yield { type: 'text-delta', index: 0, text: '.' }
        }
      },
    })
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 1)
    const chunks: StreamChunk[] = []
    for await (const chunk of ctx.llm.stream(request(controller.signal))) chunks.push(chunk)
    expect(chunks.at(-1)).toMatchObject({ type: 'finish', reason: { kind: 'aborted' } })
    await ctx.fiber.dispose()
  })

  it('also when a listener asks again and again and hands nothing on', async () => {
    const ctx = new Context()
    await ctx.plugin(LlmRuntime)
    ctx.llm.registerAdapter(['p'], {
      async *stream(): AsyncGenerator<StreamChunk> {
        yield* []
        busy()
        throw new Error('not yet')
      },
    })
    ctx.on('llm/stream', async function* ({ signal }, next) {
      for (let n = 0; n < 50 && !signal.aborted; n++) for await (const _chunk of next());
      yield* []
    })
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 1)
    const chunks: StreamChunk[] = []
    for await (const chunk of ctx.llm.stream(request(controller.signal))) chunks.push(chunk)
    expect(chunks).toMatchObject([{ type: 'finish', reason: { kind: 'aborted' } }])
    await ctx.fiber.dispose()
  })
})
