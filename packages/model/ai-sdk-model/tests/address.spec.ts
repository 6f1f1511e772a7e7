import * as aiSdkModel from '@loopguard/ai-sdk-model'
import { createHarness } from '@loopguard/testkit'
import type * as Undici from 'undici'
import { expect, it, onTestFinished, vi } from 'vitest'
import { hear, KEY, requestOf } from './stage.ts'

const asked: string[] = []

vi.mock('undici', async (importOriginal) => ({
  ...(await importOriginal<typeof Undici>()),
  fetch: (url: string) => {
    asked.push(url)
    throw new TypeError('fetch failed')
  },
}))

it.each([
  ['openai', 'https://api.openai.com/v1/responses'],
  ['openai-chat', 'https://api.openai.com/v1/chat/completions'],
  ['anthropic', 'https://api.anthropic.com/v1/messages'],
  ['deepseek', 'https://api.deepseek.com/v1/chat/completions'],
  ['google', 'https://generativelanguage.googleapis.com/v1beta/models/any:streamGenerateContent?alt=sse'],
] as const)('without a baseURL %s is %s, whatever the variables of its package say', async (kind, address) => {
  for (const name of ['OPENAI', 'ANTHROPIC', 'DEEPSEEK', 'GOOGLE_GENERATIVE_AI'])
    vi.stubEnv(`${name}_BASE_URL`, 'http://127.0.0.1:9/elsewhere')
  vi.stubEnv('SERVED_KEY', KEY)
  onTestFinished(() => void vi.unstubAllEnvs())
  await using harness = await createHarness({ plugins: [[aiSdkModel, { provider: 'served', kind, apiKeyEnv: 'SERVED_KEY' }]] })
  const { failure } = await hear(harness.ctx.llm.stream(requestOf()))
  expect(asked.pop()).toBe(address)
  expect(failure).toEqual({
    code: 'TRANSPORT',
    message: 'provider "served" could not be reached, or its connection broke: fetch failed',
    retryable: true,
  })
})
