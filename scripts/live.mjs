// One real request with a tool, and what came back: `npm run live -- deepseek [model]`. It needs the key of the provider in the
// environment, and is no part of the tests.
import { Context } from '@deepseek-ai/cordis'
import * as aiSdkModel from '@loopguard/ai-sdk-model'
import { createUserMessage, LlmRuntime, SessionId, text } from '@loopguard/llm'

const ROWS = {
  deepseek: [{ kind: 'deepseek' }, 'deepseek-chat'],
  openai: [{ kind: 'openai' }, 'gpt-5-mini'],
  'openai-chat': [{ kind: 'openai-chat' }, 'gpt-5-mini'],
  anthropic: [{ kind: 'anthropic' }, 'claude-sonnet-4-5'],
  google: [{ kind: 'google' }, 'gemini-2.5-flash'],
  ollama: [{ kind: 'openai-compatible', baseURL: 'http://127.0.0.1:11434/v1', idleTimeoutMs: 600_000 }, 'qwen3'],
  compatible: [{ kind: 'openai-compatible', baseURL: process.env.BASE_URL, apiKeyEnv: 'COMPATIBLE_API_KEY' }, process.env.MODEL],
}

const [provider = '', model] = process.argv.slice(2)
const [row, usual] = Object.hasOwn(ROWS, provider) ? ROWS[provider] : []
if (row === undefined || (model ?? usual) === undefined) {
  console.error(`live: name one of ${Object.keys(ROWS).join(', ')}, and a model if you like; "compatible" needs BASE_URL and MODEL`)
  process.exit(2)
}

const ctx = new Context()
await ctx.plugin(LlmRuntime)
await ctx.plugin(aiSdkModel, { provider, ...row })
const stream = ctx.llm.stream({
  provider,
  model: model ?? usual,
  sessionId: SessionId('live'),
  signal: AbortSignal.timeout(300_000),
  messages: [createUserMessage({ content: [text('What is the weather in Utrecht? Use the tool.')], source: { kind: 'user' } })],
  tools: [
    {
      name: 'weather',
      description: 'The weather of a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
    },
  ],
})
let finish
for await (const chunk of stream) {
  if (!chunk.type.endsWith('-delta')) console.log(JSON.stringify(chunk))
  if (chunk.type === 'finish') finish = chunk.reason
}
await ctx.fiber.dispose()
process.exitCode = finish?.kind === 'tool-calls' ? 0 : 1
