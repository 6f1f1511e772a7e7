import type { Context } from '@deepseek-ai/cordis'
import type { StreamChunk } from '@loopguard/llm'

export const name = 'retry'
export const inject = ['llm']

/** Asks again while nothing but an error has come, up to three times. */
export function apply(ctx: Context): void {
  ctx.on('llm/stream', async function* (request, next): AsyncGenerator<StreamChunk> {
    for (let attempt = 1; ; attempt++) {
      let started = false
      let failed = false
      for await (const chunk of next()) {
        failed = !started && chunk.type === 'finish' && chunk.reason.kind === 'error' && attempt < 3
        if (failed) break
        started = true
        yield chunk
      }
      if (!failed || request.signal.aborted) return
    }
  })
}
