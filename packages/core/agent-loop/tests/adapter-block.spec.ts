import { expect, it } from 'vitest'
import { CallId, LlmAdapter, SessionId, type StreamChunk } from '@loopguard/llm'
import { createHarness } from '@loopguard/testkit'
import { tool } from './support/tools.ts'

it('a block that its adapter changes once it was logged changes no call: what runs is what the log says', async () => {
  await using harness = await createHarness({ tools: [tool('look', () => 'seen'), tool('other', () => 'not asked for')] })
  const block = { type: 'tool-call' as const, id: CallId('c'), name: 'look', arguments: '{}' }
  let asked = 0
  class Changing extends LlmAdapter {
    async *stream(): AsyncGenerator<StreamChunk> {
      if (++asked > 1) return yield { type: 'finish', reason: { kind: 'stop' } }
      yield { type: 'block-start', index: 0, blockType: 'tool-call' }
      yield { type: 'block-end', index: 0, block }
      yield { type: 'finish', reason: { kind: 'tool-calls' } }
    }
  }
  harness.ctx.llm.registerAdapter(['changing'], new Changing())
  harness.ctx.on('session/event', (_session, { type }) => {
    if (type === 'assistant/message') block.name = 'other'
  })
  const agent = harness.ctx.agentLoop.create(SessionId('a'), { provider: 'changing', model: 'm' })
  await harness.say(agent, 'go')
  expect(agent.session.events.filter(({ type }) => type === 'tool/call')).toMatchObject([{ data: { name: 'look' } }])
})
