import { describe, expect, it } from 'vitest'
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@loopguard/agent-loop'
import { SessionId } from '@loopguard/llm'
import { createHarness, gate, userMessage } from '@loopguard/testkit'
import { tool } from './support/tools.ts'

const options = { provider: 'scripted', model: 'scripted' }

const labels = (ctx: Context): string[] => ctx.fiber.getEffects().map(({ label }) => label)

/** The context of the loop itself, of which those of its agents are made. */
const loopOf = (agent: Agent): Context => agent.ctx.fiber.parent

describe('agents whose context nobody asks for', () => {
  it('are one effect of their owner, however many they are, and none once the last has gone', async () => {
    await using harness = await createHarness()
    const owner = await harness.ctx.plugin({ name: 'owner', inject: ['agentLoop'], apply() {} })
    const before = labels(owner.ctx)
    const agents = Array.from({ length: 100 }, (_, index) => owner.ctx.agentLoop.create(SessionId(`a${index}`), options))
    expect(labels(owner.ctx)).toEqual([...before, 'ctx.agentLoop.create()'])
    const [first, ...others] = agents
    await Promise.all(others.map((agent) => agent.dispose()))
    expect(labels(owner.ctx)).toHaveLength(before.length + 1)
    await first!.dispose()
    expect(labels(owner.ctx)).toEqual(before)
    owner.ctx.agentLoop.create(SessionId('again'), options)
    expect(labels(owner.ctx)).toHaveLength(before.length + 1)
  })

  it('go with their owner, all of them', async () => {
    await using harness = await createHarness()
    const owner = await harness.ctx.plugin({ name: 'owner', inject: ['agentLoop'], apply() {} })
    const other = harness.agent({ id: 'other' })
    const agents = ['a', 'b', 'c'].map((id) => owner.ctx.agentLoop.create(SessionId(id), options))
    await owner.dispose()
    expect(agents.map(({ session }) => session.closed)).toEqual([true, true, true])
    expect(harness.ctx.agentLoop.list()).toEqual([other])
  })
})

describe('the context of an agent', () => {
  it('is the same whenever it is asked for, also by a tool in the middle of a turn, and goes with the agent', async () => {
    await using harness = await createHarness({ script: [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'done' }] })
    const gone: string[] = []
    const seen: Context[] = []
    harness.ctx.tools.register({
      ...tool('look'),
      execute(_args, { agent }) {
        const { ctx } = agent as Agent
        seen.push(ctx)
        ctx.effect(() => () => void gone.push('effect'))
        return 'seen'
      },
    })
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(agent.ctx).toBe(seen[0])
    expect(agent.ctx).toBe(agent.ctx)
    expect(gone).toEqual([])
    await agent.dispose()
    expect(gone).toEqual(['effect'])
    expect(agent.ctx).toBe(seen[0])
  })

  it('that is first asked for when the agent has gone, or is about to, takes nothing, and nothing is left of it', async () => {
    await using harness = await createHarness()
    const loop = loopOf(harness.agent({ id: 'other' }))
    const before = labels(loop)
    const refusals: unknown[] = []
    const tryIt = (agent: Agent): void => {
      try {
        agent.ctx.on('agent/status', () => {})
      } catch (thrown) {
        refusals.push((thrown as Error).message)
      }
    }
    harness.ctx.on('agent/disposed', ({ agent }) => tryIt(agent as Agent))
    const agent = harness.agent({ id: 'a' })
    await agent.dispose()
    tryIt(agent)
    expect(refusals).toEqual(Array(2).fill('cannot create effect on inactive context'))
    await new Promise((resolve) => setImmediate(resolve))
    expect(labels(loop)).toEqual(before)
  })

  it('that is first asked for while its agent goes lives until nothing of the agent runs', async () => {
    const [reached, more] = [gate(), gate()]
    await using harness = await createHarness({ script: [{ calls: [{ name: 'busy', arguments: {} }] }] })
    harness.ctx.tools.register({
      ...tool('busy'),
      async execute() {
        reached.open()
        await more.opened
        return 'done'
      },
    })
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await reached.opened
    const heard: string[] = []
    const gone = agent.dispose()
    agent.ctx.effect(() => () => void heard.push(`unwound while ${agent.status}, closed: ${agent.session.closed}`))
    await new Promise((resolve) => setImmediate(resolve))
    expect(heard).toEqual([])
    more.open()
    await gone
    expect(heard).toEqual(['unwound while idle, closed: false'])
  })

  it('that is first asked for while the loop unloads can be read, and takes nothing', async () => {
    const reached = gate()
    const more = gate()
    const harness = await createHarness({ script: [{ calls: [{ name: 'late', arguments: {} }] }] })
    const said: unknown[] = []
    harness.ctx.tools.register({
      ...tool('late'),
      async execute(_args, exec) {
        reached.open()
        await more.opened
        const { ctx } = exec.agent as Agent
        said.push(ctx.tools.schemas(exec.agent).map(({ name }) => name))
        expect(() => ctx.on('agent/status', () => {})).toThrow('cannot create effect on inactive context')
        said.push('refused')
        return 'done'
      },
    })
    const agent = harness.agent()
    const other = harness.agent({ id: 'other' })
    const loop = loopOf(other)
    agent.followup(userMessage('hi'))
    await reached.opened
    const unloaded = loop.fiber.dispose()
    more.open()
    await unloaded
    expect(said).toEqual([['late'], 'refused'])
    expect(agent.session.closed).toBe(true)
    await harness.ctx.fiber.dispose()
  })

  it('is unwound before the session closes when the loop unloads, and after its turn has ended', async () => {
    const harness = await createHarness({ script: [() => 'hang'] })
    const agent = harness.agent()
    const more = gate()
    const heard: string[] = []
    const loop = loopOf(agent)
    agent.ctx.effect(() => async () => {
      heard.push(`unwinding while ${agent.status}`)
      await more.opened
      heard.push(`unwound, closed: ${agent.session.closed}`)
    })
    agent.followup(userMessage('hi'))
    const unloaded = loop.fiber.dispose()
    await new Promise((resolve) => setImmediate(resolve))
    more.open()
    await unloaded
    expect(heard).toEqual(['unwinding while idle', 'unwound, closed: false'])
    expect(agent.session.closed).toBe(true)
    await harness.ctx.fiber.dispose()
  })
})
