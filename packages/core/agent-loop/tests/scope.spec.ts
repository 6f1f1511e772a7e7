import { describe, expect, it } from 'vitest'
import type { Agent } from '@loopguard/agent-loop'
import type { Context } from '@deepseek-ai/cordis'
import { SessionId } from '@loopguard/llm'
import { createHarness, userMessage } from '@loopguard/testkit'
import { story } from './support/story.ts'
import { tool } from './support/tools.ts'

const options = { provider: 'scripted', model: 'scripted' }

/** Records what is heard through one context, of the events that belong to an agent. */
function listen(ctx: Context, heard: string[]): void {
  const note = (event: string, { id }: { readonly id: string }): void => void heard.push(`${event} ${id}`)
  ctx.on('agent/created', ({ agent }) => note('created', agent))
  ctx.on('agent/status', ({ agent, status }) => note(status, agent))
  ctx.on('agent/error', ({ agent }) => note('error', agent))
  ctx.on('agent/pre-step', ({ agent }, next) => (note('pre-step', agent), next()))
  ctx.on('agent/request-error', ({ agent }, next) => (note('request-error', agent), next()))
  ctx.on('agent/turn-stopping', ({ agent }) => note('turn-stopping', agent))
  ctx.on('tools/pre-execute', ({ agent }, next) => (note('pre-execute', agent!), next()))
  ctx.on('tools/execute', ({ agent }, next) => (note('execute', agent!), next()))
  ctx.on('tools/post-execute', ({ agent }, _result, next) => (note('post-execute', agent!), next()))
  ctx.on('tools/result', ({ agent }) => note('result', agent!))
}

describe('what is registered through agent.ctx', () => {
  it('a listener hears its own agent alone', async () => {
    await using harness = await createHarness({
      script: [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'a' }, { calls: [{ name: 'look', arguments: {} }] }, { text: 'b' }],
      tools: [tool('look')],
    })
    const [a, b] = [harness.agent({ id: 'a' }), harness.agent({ id: 'b' })]
    const own: string[] = []
    const all: string[] = []
    listen(a.ctx, own)
    listen(harness.ctx, all)
    await harness.say(a, 'hi')
    await harness.say(b, 'hi')
    await harness.say(a, 'the script is empty')
    const worked = (id: string) =>
      ['running', 'pre-step', 'pre-execute', 'execute', 'post-execute', 'result', 'pre-step', 'turn-stopping', 'idle'].map(
        (event) => `${event} ${id}`,
      )
    const failed = ['running a', 'pre-step a', 'request-error a', 'error a', 'idle a']
    expect(own).toEqual([...worked('a'), ...failed])
    expect(all).toEqual([...worked('a'), ...worked('b'), ...failed])
  })

  it('a tool is seen by its own agent alone and shadows one of the same name; a guard judges its own calls alone', async () => {
    await using harness = await createHarness({ tools: [tool('look', () => 'shared'), tool('risky')] })
    const [a, b] = [harness.agent({ id: 'a' }), harness.agent({ id: 'b' })]
    a.ctx.tools.register(tool('look', () => 'own'))
    a.ctx.tools.register(tool('secret'))
    a.ctx.tools.guard(({ name }) => (name === 'risky' ? 'not you' : undefined))
    for (const agent of [a, b]) {
      harness.model.push(
        { calls: ['look', 'secret', 'risky'].map((name, index) => ({ name, arguments: {}, id: `c${index}` })) },
        { text: 'seen' },
      )
      await harness.say(agent, 'go')
    }
    const of = (agent: Agent) => story(agent.session, { headers: true }).filter((line) => /^(header|result)/.test(line))
    expect(of(a)).toEqual(['header scripted look risky secret', 'result c0: own', 'result c1: ok', 'result c2 failed DENIED'])
    expect(of(b)).toEqual(['header scripted look risky', 'result c0: shared', 'result c1 failed UNKNOWN_TOOL', 'result c2: ok'])
  })

  it('can be used in the same breath as the agent is made, and from a listener of agent/created', async () => {
    await using harness = await createHarness({ script: [{ calls: [{ name: 'own', arguments: {} }] }, { text: 'seen' }] })
    harness.ctx.on('agent/created', ({ agent }) => void agent.ctx.tools.register(tool('own', () => 'mine')))
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(story(agent.session)).toContain('result call_1: mine')
  })
})

describe('a child', () => {
  it('its log starts with its parent, it sees the shared tools and not the parent’s, and the parent does not hear it', async () => {
    await using harness = await createHarness({
      script: [{ calls: ['shared', 'own'].map((name) => ({ name, arguments: {} })) }, { text: 'seen' }],
      tools: [tool('shared')],
    })
    const parent = harness.agent({ id: 'parent' })
    parent.ctx.tools.register(tool('own'))
    parent.ctx.tools.guard(() => 'the parent says no')
    const heard: string[] = []
    listen(parent.ctx, heard)
    const child = parent.ctx.agentLoop.create(SessionId('child'), options)
    await harness.say(child, 'go')
    expect(child.session.events[0]?.data).toEqual({ version: 1, id: 'child', parent: 'parent' })
    expect(parent.session.events[0]?.data).toEqual({ version: 1, id: 'parent' })
    expect(story(child.session).filter((line) => line.startsWith('result'))).toEqual([
      'result call_1: ok',
      'result call_2 failed UNKNOWN_TOOL',
    ])
    expect(heard).toEqual([])
    expect(harness.ctx.agentLoop.get(child.id)).toBe(child)
  })

  it('goes with its parent, and its own children with it, each before the session of its parent closes', async () => {
    await using harness = await createHarness({ script: [() => 'hang'] })
    const parent = harness.agent({ id: 'parent' })
    const child = parent.ctx.agentLoop.create(SessionId('child'), options)
    const grandchild = child.ctx.agentLoop.create(SessionId('grandchild'), options)
    expect(grandchild.session.events[0]?.data).toMatchObject({ parent: 'child' })
    const heard: string[] = []
    harness.ctx.on('agent/disposed', ({ agent }) => void heard.push(agent.id))
    grandchild.followup(userMessage('go'))
    await parent.dispose()
    expect(heard).toEqual(['grandchild', 'child', 'parent'])
    expect(story(grandchild.session).at(-1)).toMatch(/^(end 1 aborted by disposed|discarded: go)$/)
    expect(harness.ctx.agentLoop.list()).toEqual([])
  })

  it('may go before its parent, which then owns nothing of it any more', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok' }] })
    const parent = harness.agent({ id: 'parent' })
    const effects = parent.ctx.fiber.getEffects().length
    for (let round = 0; round < 3; round++) await parent.ctx.agentLoop.create(SessionId('child'), options).dispose()
    await new Promise((resolve) => setImmediate(resolve))
    expect(parent.ctx.fiber.getEffects().length).toBe(effects)
    await harness.say(parent, 'still here?')
    expect(story(parent.session).at(-1)).toBe('end 1 completed')
  })

  it('cannot be made by a parent that is gone, and nothing is left of the attempt', async () => {
    await using harness = await createHarness()
    const parent = harness.agent({ id: 'parent' })
    await parent.dispose()
    expect(() => parent.ctx.agentLoop.create(SessionId('child'), options)).toThrow('cannot create effect on inactive context')
    expect([harness.ctx.agentLoop.list(), harness.ctx.sessions.list()]).toEqual([[], []])
    harness.agent({ id: 'child' })
  })
})
