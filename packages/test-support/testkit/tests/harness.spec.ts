import type { Context } from '@deepseek-ai/cordis'
import { createHarness, ScriptedModel, userMessage } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'

const echo = {
  name: 'echo',
  description: 'says it back',
  parameters: {},
  execute: (args: unknown): string => JSON.stringify(args),
}

const packagesOf = (ctx: Context): string[] =>
  ctx.invariants
    .registrations()
    .map(({ packageName }) => packageName)
    .sort()

describe('a harness', () => {
  it('is a whole host: a prompt goes through model, tools and log', async () => {
    await using harness = await createHarness({
      script: [{ calls: [{ name: 'echo', arguments: { a: 1 } }] }, { text: 'done' }],
      tools: [echo],
    })
    const agent = harness.agent({ system: 'be brief', maxTokens: 9 })
    await harness.say(agent, 'go')
    expect(agent.session.events.at(-1)).toMatchObject({ type: 'turn/end', data: { reason: { kind: 'completed' } } })
    expect(agent.session.deriveMessages().map(({ source }) => source.kind)).toEqual(['user', 'model', 'tool', 'model'])
    expect(harness.model.requests[0]).toMatchObject({ system: 'be brief', maxTokens: 9, tools: [{ name: 'echo' }] })
    expect(harness.log).toEqual([])
  })

  it('names its agents, unless they have names', async () => {
    await using harness = await createHarness()
    expect([harness.agent(), harness.agent({ id: 'mine' }), harness.agent()].map(({ id }) => id)).toEqual(['agent-1', 'mine', 'agent-2'])
  })

  it('mounts plugins after the host, in order, with their configuration', async () => {
    const seen: unknown[] = []
    const plugin = {
      name: 'p',
      inject: ['agentLoop', 'tools', 'invariants'],
      apply: (_ctx: Context, config: unknown) => void seen.push(config),
    }
    const second = { name: 'q', apply: () => void seen.push('second') }
    await using _harness = await createHarness({ plugins: [[plugin, { a: 1 }], second] })
    expect(seen).toEqual([{ a: 1 }, 'second'])
  })

  it('watches the invariants of every package, before the first plugin comes', async () => {
    const before: unknown[] = []
    const plugin = { name: 'p', inject: ['invariants'], apply: (ctx: Context) => void before.push(...packagesOf(ctx)) }
    await using harness = await createHarness({ plugins: [plugin] })
    const names = [
      'agent-loop',
      'invariants',
      'llm',
      'repeat-tool-reminder',
      'repeated-failure-reminder',
      'session',
      'timeout-policy',
      'tools',
    ]
    expect(before).toEqual(names.map((name) => `@loopguard/${name}`))
    expect(harness.ctx.invariants.registrations().every(({ fiber }) => fiber?.state === 2)).toBe(true)
  })

  it('fails to be disposed, once all is gone, when a contract was broken', async () => {
    const harness = await createHarness()
    const agent = harness.agent()
    harness.ctx.emit('agent/status', { agent, status: 'idle' })
    await expect(harness.dispose()).rejects.toThrow('invariant violated by "@loopguard/agent-loop": agent "agent-1"')
    expect(agent.session.closed).toBe(true)
  })

  it('names every contract that was broken', async () => {
    const harness = await createHarness()
    const agent = harness.agent()
    harness.ctx.emit('agent/status', { agent, status: 'idle' })
    expect(() => agent.session.append('turn/end', { turn: 7, reason: { kind: 'completed' } })).toThrow('turn 7')
    const failure = await harness[Symbol.asyncDispose]().then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(failure).toBeInstanceOf(AggregateError)
    expect(String(failure)).toMatch(/^AggregateError: 2 invariants were violated:\n.*agent-loop.*\n.*session.*$/)
  })

  it('leaves the invariants alone when it is told to', async () => {
    await using harness = await createHarness({ invariants: false })
    expect(harness.ctx.get('invariants') === undefined).toBe(true)
  })

  it('takes another adapter for the model, and a configuration for the loop', async () => {
    const adapter = new ScriptedModel([{ text: 'from elsewhere' }])
    await using harness = await createHarness({ adapter, loop: { agents: [{ id: 'row', provider: 'scripted', model: 'm' }] } })
    const [agent] = harness.ctx.agentLoop.list()
    agent?.followup(userMessage('go'))
    await agent?.whenIdle()
    expect([adapter.count, harness.model.count]).toEqual([1, 0])
  })

  it('collects what is logged at error level, and nothing less', async () => {
    const cause = new Error('boom')
    const plugin = {
      name: 'noisy',
      apply: (ctx: Context) => {
        ctx.logger.warn('never mind')
        ctx.logger.error('it went wrong', cause)
      },
    }
    await using harness = await createHarness({ plugins: [plugin] })
    expect(harness.log).toMatchObject([{ name: 'noisy', error: cause }])
    expect(harness.log[0]?.text).toContain('it went wrong')
  })

  it('rejects with what a plugin throws, and leaves nothing behind', async () => {
    let unloaded = false
    const first = { name: 'first', apply: (ctx: Context) => void ctx.effect(() => () => (unloaded = true)) }
    const bad = {
      name: 'bad',
      apply: () => {
        throw new Error('boom')
      },
    }
    await expect(createHarness({ plugins: [first, bad] })).rejects.toThrow('boom')
    expect(unloaded).toBe(true)
  })

  it('takes its agents down with it', async () => {
    const harness = await createHarness({ script: ['hang'] })
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await harness.dispose()
    expect(agent.status).toBe('idle')
    expect(agent.session.events.at(-1)?.data).toMatchObject({ reason: { kind: 'aborted', reason: { kind: 'disposed' } } })
  })
})
