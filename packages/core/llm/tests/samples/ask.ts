import { Context } from '@deepseek-ai/cordis'
import LlmRuntime, {
  createUserMessage,
  LlmAdapter,
  SessionId,
  StreamAssembler,
  text,
  type LlmRequest,
  type StreamChunk,
} from '@loopguard/llm'

/** A model that repeats the last thing it was told. */
class Echo extends LlmAdapter {
  async *stream({ messages }: LlmRequest): AsyncGenerator<StreamChunk> {
    const [block] = messages.at(-1)?.content ?? []
    const words = block?.type === 'text' ? block.text : '…'
    yield { type: 'block-start', index: 0, blockType: 'text' }
    yield { type: 'text-delta', index: 0, text: words }
    yield { type: 'block-end', index: 0, block: text(words) }
    yield { type: 'finish', reason: { kind: 'stop' } }
  }
}

/** What the model of a provider answers, and why it stopped. */
export async function ask(provider: string, words: string): Promise<string> {
  const ctx = new Context()
  await ctx.plugin(LlmRuntime)
  ctx.llm.registerAdapter(['echo'], new Echo())
  const message = createUserMessage({ content: [text(words)], source: { kind: 'user' } })
  const { signal } = new AbortController()
  const request: LlmRequest = { provider, model: 'any', messages: [message], signal, sessionId: SessionId('s') }
  const answer = new StreamAssembler()
  for await (const chunk of ctx.llm.stream(request)) answer.push(chunk)
  const said = answer.content().map((block) => (block.type === 'text' ? block.text : block.type))
  return [...said, JSON.stringify(answer.finish)].join(' ')
}
