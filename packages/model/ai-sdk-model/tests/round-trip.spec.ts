import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as aiSdkModel from '@loopguard/ai-sdk-model'
import { SessionId } from '@loopguard/llm'
import { createHarness, type Harness } from '@loopguard/testkit'
import { type ModelServer, says, startModelServer } from '@loopguard/testkit/model-server'
import { expect, it, onTestFinished, vi } from 'vitest'
import { KEY } from './stage.ts'

const look = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} }, execute: () => 'blue' }

/** A host on session files, as a process of its own would have it. */
async function host(server: ModelServer, directory: string, kind: aiSdkModel.KindName): Promise<Harness> {
  vi.stubEnv('SERVED_KEY', KEY)
  onTestFinished(() => void vi.unstubAllEnvs())
  const row = { provider: 'served', kind, baseURL: server.baseURL, apiKeyEnv: 'SERVED_KEY' }
  return createHarness({ sessions: { directory }, tools: [look], plugins: [[aiSdkModel, row]] })
}

const SEAL = 'c2VhbGVkLXJlYXNvbmluZw=='
const replies = [
  { reasoning: 'I should look first.', seal: SEAL, text: 'I look.', calls: [{ name: 'look', arguments: {} }] },
  { text: 'It is blue.' },
]

interface Case {
  readonly kind: aiSdkModel.KindName
  readonly model: string
  /** What of the second request must be there, and be there again after a resume. */
  readonly carries: readonly string[]
}

const cases: readonly Case[] = [
  // Encrypted reasoning: nothing is stored with the provider, and what comes back says so.
  {
    kind: 'openai',
    model: 'gpt-5',
    carries: [`"encrypted_content":"${SEAL}"`, '"type":"reasoning"', '"call_id":"call_1"', '"store":false'],
  },
  { kind: 'anthropic', model: 'claude-sonnet-4-5', carries: [`"signature":"${SEAL}"`, '"thinking":"I should look first."'] },
  { kind: 'google', model: 'gemini-3-pro', carries: [`"thoughtSignature":"${SEAL}"`, '"functionCall"'] },
  // Without a signature: the reasoning itself goes back, as long as the turn lasts.
  { kind: 'deepseek', model: 'deepseek-reasoner', carries: ['"reasoning_content":"I should look first."'] },
  { kind: 'openai-compatible', model: 'any', carries: ['"reasoning_content":"I should look first."'] },
]

it.each(cases)(
  '$kind: what a provider wants back goes out within the turn, and after a dispose and a resume',
  async ({ kind, model, carries }) => {
    await using server = await startModelServer([says(replies[0] ?? {}), says(replies[1] ?? {}), 'hang'])
    const directory = await mkdtemp(join(tmpdir(), 'round-trip-'))
    onTestFinished(() => rm(directory, { recursive: true }))

    const first = await host(server, directory, kind)
    const agent = first.ctx.agentLoop.create(SessionId('a'), { provider: 'served', model })
    await first.say(agent, 'What colour is the sea?')
    expect(agent.session.events.at(-1)).toMatchObject({ type: 'turn/end', data: { reason: { kind: 'completed' } } })
    await first.dispose()
    const within = JSON.stringify(server.requests[1]?.body)
    for (const part of carries) expect(within).toContain(part)
    expect(await readFile(join(directory, 'a.jsonl'), 'utf8')).toContain('I should look first.')

    const second = await host(server, directory, kind)
    const resumed = await second.ctx.agentLoop.resume(SessionId('a'), { provider: 'served', model })
    void second.say(resumed, 'Are you sure?')
    const again = (await server.request(2)).body
    await second.dispose()
    // Of a turn that is over, DeepSeek wants no reasoning.
    for (const part of kind === 'deepseek' ? ['"content":"I look."', '"tool_calls"'] : carries)
      expect(JSON.stringify(again)).toContain(part)
  },
)

it('anthropic: redacted thinking, which has no text, goes back as well', async () => {
  await using server = await startModelServer([says({ seal: SEAL, calls: [{ name: 'look', arguments: {} }] }), says({ text: 'blue' })])
  const directory = await mkdtemp(join(tmpdir(), 'round-trip-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  await using harness = await host(server, directory, 'anthropic')
  const agent = harness.ctx.agentLoop.create(SessionId('a'), { provider: 'served', model: 'claude-sonnet-4-5' })
  await harness.say(agent, 'Look.')
  expect(JSON.stringify(server.requests[1]?.body)).toContain(`{"type":"redacted_thinking","data":"${SEAL}"}`)
})
