import { Context } from '@deepseek-ai/cordis'
import LlmRuntime, { LlmAdapter, SessionId, text, type LlmRequest, type StreamChunk } from '@loopguard/llm'
import { mountInvariants } from '@loopguard/testkit'
import { onTestFinished } from 'vitest'

/** A host with the runtime alone, which goes with the test. Its invariants are watched, unless the test breaks them on purpose. */
export async function host({ invariants = true }: { invariants?: boolean } = {}): Promise<Context> {
  const ctx = new Context()
  await ctx.plugin(LlmRuntime)
  const watch = invariants ? await mountInvariants(ctx) : undefined
  onTestFinished(async () => {
    await ctx.fiber.dispose()
    watch?.assertNone()
  })
  return ctx
}

/** An adapter that streams what `source` makes of the request. */
export function adapterOf(source: (request: LlmRequest) => AsyncIterable<StreamChunk>): LlmAdapter {
  return new (class extends LlmAdapter {
    stream(request: LlmRequest): AsyncIterable<StreamChunk> {
      return source(request)
    }
  })()
}

export const finish: StreamChunk = { type: 'finish', reason: { kind: 'stop' } }

/** The chunks of a message that says `words`, with its finish. */
export function saying(words: string): StreamChunk[] {
  return [
    { type: 'block-start', index: 0, blockType: 'text' },
    { type: 'text-delta', index: 0, text: words },
    { type: 'block-end', index: 0, block: text(words) },
    finish,
  ]
}

export async function* streamed(chunks: readonly StreamChunk[]): AsyncGenerator<StreamChunk, void, undefined> {
  yield* chunks
}

export function requestOf(overrides: Partial<LlmRequest> = {}): LlmRequest {
  return { provider: 'p', model: 'm', messages: [], signal: new AbortController().signal, sessionId: SessionId('s'), ...overrides }
}

export async function collect(stream: AsyncIterable<StreamChunk>): Promise<StreamChunk[]> {
  const chunks: StreamChunk[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

/** What is logged at error level from now on, as text. */
export function errorsOf(ctx: Context): string[] {
  const lines: string[] = []
  ctx.logger.exporter({
    export: ({ level, name, args }) => {
      if (level === 0) lines.push(`[${name}] ${String(args[0])}`)
    },
  })
  return lines
}

/** A promise and the function that settles it. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open: () => open() }
}
