import { describe, expect, it } from 'vitest'
import type { Context, Fiber } from '@deepseek-ai/cordis'
import { Context as Root } from '@deepseek-ai/cordis'
import { AgentLoop, type Agent } from '@loopguard/agent-loop'
import { LlmRuntime, SessionId } from '@loopguard/llm'
import { SessionStore } from '@loopguard/session'
import { ToolRuntime } from '@loopguard/tools'
import { gate, ScriptedModel, userMessage } from '@loopguard/testkit'
import { story } from './support/story.ts'
import { tool } from './support/tools.ts'

/** A host whose parts can be unloaded one by one, with an agent of a plugin's in the middle of a turn. */
async function midTurn() {
  const ctx = new Root()
  const parts: Record<string, Fiber> = {}
  parts['llm'] = await ctx.plugin(LlmRuntime)
  parts['sessions'] = await ctx.plugin(SessionStore)
  parts['tools'] = await ctx.plugin(ToolRuntime)
  parts['agentLoop'] = await ctx.plugin(AgentLoop, {})
  const reached = gate()
  const more = gate()
  const heard: string[] = []
  ctx.on('agent/disposed', ({ agent }) => void heard.push(`disposed ${agent.id}`))
  parts['tool'] = await ctx.plugin({
    name: 'slow-tool',
    inject: ['tools'],
    apply(inner: Context) {
      inner.tools.register(
        tool('slow', async () => {
          reached.open()
          await more.opened
          return 'too late'
        }),
      )
    },
  })
  ctx.llm.registerAdapter(['scripted'], new ScriptedModel([{ calls: ['slow', 'slow'].map((name) => ({ name, arguments: {} })) }]))
  let agent!: Agent
  parts['owner'] = await ctx.plugin({
    name: 'owner',
    inject: ['agentLoop'],
    apply(inner: Context) {
      agent = inner.agentLoop.create(SessionId('a'), { provider: 'scripted', model: 'scripted' })
    },
  })
  agent.ctx.effect(() => () => void heard.push(`unwound while ${agent.status}`))
  agent.followup(userMessage('hi'))
  await reached.opened
  parts['everything'] = ctx.fiber
  return { ctx, parts, agent, more, heard }
}

describe.each(['llm', 'sessions', 'tools', 'agentLoop', 'owner', 'everything'])('unloading %s in mid-turn', (part) => {
  it('cancels, waits for what runs, and the log ends whole', async () => {
    const { ctx, parts, agent, more, heard } = await midTurn()
    let settled = false
    const unloaded = parts[part]!.dispose().then(() => (settled = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect({ settled, closed: agent.session.closed, heard }).toEqual({ settled: false, closed: false, heard: [] })
    expect(() => agent.followup(userMessage('no'))).toThrow(expect.objectContaining({ code: 'AGENT_DISPOSED' }))
    more.open()
    await unloaded
    await agent.dispose()
    expect(story(agent.session)).toEqual([
      'queued next-turn: hi',
      'turn 1',
      'step 1.1',
      'user hi',
      'claimed: hi',
      'model [call_1 slow({})] [call_2 slow({})]',
      'call call_1',
      'result call_1 failed ABORTED',
      'call call_2',
      'result call_2 failed ABORTED_BEFORE_DISPATCH',
      'end 1.1',
      'end 1 aborted by disposed',
    ])
    expect({ closed: agent.session.closed, heard }).toEqual({
      closed: true,
      heard: part === 'everything' ? ['unwound while idle'] : ['unwound while idle', 'disposed a'],
    })
    await ctx.fiber.dispose()
  })
})

describe('unloading the plugin of a tool', () => {
  it('leaves the agent alone: the call that runs goes on, the next one finds no tool', async () => {
    const { ctx, parts, agent, more } = await midTurn()
    ctx.llm.registerAdapter(['other'], new ScriptedModel())
    await parts['tool']!.dispose()
    more.open()
    await agent.whenIdle()
    expect(story(agent.session).filter((line) => line.startsWith('result'))).toEqual([
      'result call_1: too late',
      'result call_2 failed UNKNOWN_TOOL',
    ])
    await ctx.fiber.dispose()
  })
})

describe('a loop that comes back', () => {
  it('has none of its agents any more; plugins that need it make theirs anew', async () => {
    const { ctx, parts, agent, more } = await midTurn()
    more.open()
    await parts['tools']!.dispose()
    await agent.dispose()
    expect(ctx.get('agentLoop')).toBeUndefined()
    await ctx.plugin(ToolRuntime)
    await parts['agentLoop']!.await()
    await parts['owner']!.await()
    const [anew, ...others] = ctx.agentLoop.list()
    expect([anew?.id, anew === agent, others.length]).toEqual(['a', false, 0])
    expect(anew?.session.events.length).toBe(1)
    await ctx.fiber.dispose()
  })
})

describe('a loop that is unloading or gone', () => {
  it('makes no agent, and leaves no session open and no id taken', async () => {
    const { ctx, parts, more } = await midTurn()
    const { agentLoop } = ctx
    const make = () => agentLoop.create(SessionId('b'), { provider: 'scripted', model: 'scripted' })
    const unloaded = parts['agentLoop']!.dispose()
    expect(make).toThrow('cannot create effect on inactive context')
    more.open()
    await unloaded
    expect(make).toThrow('cannot create effect on inactive context')
    expect(agentLoop.list()).toEqual([])
    expect(ctx.sessions.list()).toEqual([])
    ctx.sessions.create('b')
    await ctx.fiber.dispose()
  })
})
