import { describe, expect, it } from 'vitest'
import type { Agent } from '@loopguard/agent-loop'
import { createHarness, gate, userMessage } from '@loopguard/testkit'
import { phases, reach } from './support/phases.ts'
import { story } from './support/story.ts'
import { tool } from './support/tools.ts'

const doors = ['followup', 'steer', 'inject'] as const

const refusesMessages = (agent: Agent): void => {
  for (const door of doors) {
    expect(() => agent[door](userMessage('no'))).toThrow(
      expect.objectContaining({ code: 'AGENT_DISPOSED', message: expect.stringContaining(agent.id) }),
    )
  }
}

describe.each(phases)('a disposal $name', (phase) => {
  it('cancels, waits until nothing runs, and leaves a log that is whole and closed', async () => {
    await using at = await reach(phase)
    const { agent, harness } = at
    const heard: string[] = []
    harness.ctx.on('agent/status', ({ status }) => void heard.push(status))
    harness.ctx.on('agent/disposed', ({ agent: gone }) => void heard.push(`disposed ${gone.id} ${gone.session.closed}`))
    agent.inject(userMessage('aside'))
    let settled = false
    const disposed = agent.dispose().then(() => (settled = true))
    refusesMessages(agent)
    await new Promise((resolve) => setImmediate(resolve))
    const isGone = phase.endsByItself === true
    expect([settled, harness.ctx.agentLoop.get(agent.id)]).toEqual(isGone ? [true, undefined] : [false, agent])
    at.go()
    await disposed
    expect(story(agent.session)).toEqual([
      'queued next-turn: hi',
      ...phase.before,
      'queued next-step: aside',
      `discarded: ${phase.unentered === true ? 'hi, ' : ''}aside`,
      ...phase.after,
      'end 1 aborted by disposed',
    ])
    expect(heard).toEqual(['idle', 'disposed agent-1 true'])
    expect(agent.status).toBe('idle')
    expect(harness.ctx.agentLoop.get(agent.id)).toBeUndefined()
    expect(harness.log).toEqual([])
  })
})

describe('a disposal', () => {
  it('of an idle agent closes its session, forgets it and frees its id', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok', repeat: 2 }] })
    const agent = harness.agent({ id: 'a' })
    await harness.say(agent, 'hi')
    await agent.dispose()
    refusesMessages(agent)
    expect({ closed: agent.session.closed, listed: harness.ctx.agentLoop.list(), open: harness.ctx.sessions.list() }).toEqual({
      closed: true,
      listed: [],
      open: [],
    })
    await agent.whenIdle()
    const again = harness.agent({ id: 'a' })
    await harness.say(again, 'hi')
    expect(story(again.session).at(-1)).toBe('end 1 completed')
  })

  it('is idempotent: all who ask settle together, one event tells of it', async () => {
    await using at = await reach(phases.find(({ name }) => name === 'during a body')!)
    const { agent, harness } = at
    let told = 0
    harness.ctx.on('agent/disposed', () => void told++)
    const settled: number[] = []
    const waiting = [1, 2, 3].map((n) => agent.dispose().then(() => settled.push(n)))
    await new Promise((resolve) => setImmediate(resolve))
    expect(settled).toEqual([])
    at.go()
    await Promise.all([...waiting, agent.dispose()])
    await agent.dispose()
    expect(settled).toEqual([1, 2, 3])
    expect(told).toBe(1)
  })

  it('takes no message from a listener of the signal that it aborts, and runs no other turn', async () => {
    const started = gate()
    const refused: unknown[] = []
    await using harness = await createHarness({
      script: [{ calls: [{ name: 'wait', arguments: {} }] }],
      tools: [
        tool('wait', async (_args, { signal }) => {
          signal.addEventListener('abort', () => {
            for (const door of doors) {
              try {
                agent[door](userMessage('too late'))
              } catch (error) {
                refused.push((error as { code?: string }).code)
              }
            }
          })
          started.open()
          await gate().wait(signal)
          return 'unreachable'
        }),
      ],
    })
    const agent = harness.agent()
    agent.followup(userMessage('hi'))
    await started.opened
    await agent.dispose()
    expect(refused).toEqual(['AGENT_DISPOSED', 'AGENT_DISPOSED', 'AGENT_DISPOSED'])
    expect(story(agent.session).slice(-3)).toEqual(['result call_1 failed CANCELLED', 'end 1.1', 'end 1 aborted by disposed'])
  })

  it('after a cancel keeps the first cause, and drops what was sent in between', async () => {
    await using at = await reach(phases.find(({ name }) => name === 'during a body')!)
    const { agent } = at
    agent.cancel({ kind: 'user' })
    agent.followup(userMessage('between'))
    const disposed = agent.dispose()
    at.go()
    await disposed
    expect(story(agent.session).filter((line) => /between|^end 1 |^turn/.test(line))).toEqual([
      'turn 1',
      'queued next-turn: between',
      'discarded: between',
      'end 1 aborted by user',
    ])
  })

  it('from inside every kind of listener ends the turn and settles', async () => {
    const places = [
      'agent/status',
      'agent/pre-step',
      'agent/turn-stopping',
      'tools/pre-execute',
      'tools/post-execute',
      'tools/result',
      'session/event',
      'body',
    ]
    for (const place of places) {
      await using harness = await createHarness({
        script: [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'seen' }],
        tools: [tool('look', () => (leave('body'), 'ok'))],
      })
      const agent = harness.agent()
      const gone = gate()
      let left = 1
      const leave = (at: string): void => {
        if (at === place && left-- > 0) void agent.dispose().then(() => gone.open())
      }
      const { ctx } = harness
      ctx.on('agent/status', () => leave('agent/status'))
      ctx.on('agent/pre-step', (_event, next) => (leave('agent/pre-step'), next()))
      ctx.on('agent/turn-stopping', () => leave('agent/turn-stopping'))
      ctx.on('tools/pre-execute', (_exec, next) => (leave('tools/pre-execute'), next()))
      ctx.on('tools/post-execute', (_exec, _result, next) => (leave('tools/post-execute'), next()))
      ctx.on('tools/result', () => leave('tools/result'))
      ctx.on('session/event', (_session, { type }) => {
        if (type === 'user/message') leave('session/event')
      })
      agent.followup(userMessage('hi'))
      await gone.opened
      const lines = story(agent.session)
      expect({ place, end: lines.at(-1), closed: agent.session.closed, log: harness.log }).toEqual({
        place,
        end: place === 'agent/status' ? 'discarded: hi' : 'end 1 aborted by disposed',
        closed: true,
        log: [],
      })
      const count = (start: string) => lines.filter((line) => line.startsWith(start)).length
      expect(count('call')).toBe(count('result'))
      expect(count('step')).toBe(count('end 1.'))
    }
  })

  it('from a listener of agent/created leaves nothing', async () => {
    await using harness = await createHarness()
    harness.ctx.on('agent/created', ({ agent }) => void agent.dispose())
    const agent = harness.agent()
    await agent.dispose()
    expect(harness.ctx.agentLoop.list()).toEqual([])
  })

  it('after the log has been closed by somebody else still settles', async () => {
    await using at = await reach(phases.find(({ name }) => name === 'during a body')!)
    const { agent, harness } = at
    agent.session.close()
    const disposed = agent.dispose()
    at.go()
    await disposed
    expect(harness.ctx.agentLoop.list()).toEqual([])
    expect(harness.log.map(({ text }) => text.split('\n')[0])).toContainEqual(expect.stringContaining('closed'))
  })
})

describe('agent.ctx', () => {
  it('goes with the agent, after its last turn has ended', async () => {
    const reached = gate()
    const more = gate()
    await using harness = await createHarness({ script: [{ calls: [{ name: 'own', arguments: {} }] }] })
    const agent = harness.agent()
    const heard: string[] = []
    agent.ctx.tools.register(
      tool('own', async () => {
        reached.open()
        await more.opened
        throw new Error('stopped')
      }),
    )
    agent.ctx.on('tools/post-execute', (_exec, _result, next) => (heard.push('post-execute'), next()))
    agent.ctx.on('agent/status', ({ status }) => void heard.push(status))
    agent.ctx.effect(() => () => void heard.push(`unwound, closed: ${agent.session.closed}`))
    agent.followup(userMessage('hi'))
    await reached.opened
    const disposed = agent.dispose()
    await new Promise((resolve) => setImmediate(resolve))
    expect(harness.ctx.tools.get('own', agent)).toBeDefined()
    more.open()
    await disposed
    expect(heard).toEqual(['running', 'post-execute', 'idle', 'unwound, closed: false'])
    expect(harness.ctx.tools.get('own', agent)).toBeUndefined()
    expect(() => agent.ctx.on('agent/status', () => {})).toThrow('cannot create effect on inactive context')
  })

  it('an unwinding that takes time is waited for before the session closes', async () => {
    const more = gate()
    await using harness = await createHarness()
    const agent = harness.agent()
    agent.ctx.effect(() => () => more.opened)
    const disposed = agent.dispose()
    await new Promise((resolve) => setImmediate(resolve))
    expect(agent.session.closed).toBe(false)
    more.open()
    await disposed
    expect(agent.session.closed).toBe(true)
  })

  it('an unwinding that fails is logged and does not stop the disposal', async () => {
    await using harness = await createHarness()
    const agent = harness.agent()
    agent.ctx.effect(() => () => Promise.reject(new Error('will not go')))
    await agent.dispose()
    expect(agent.session.closed).toBe(true)
    expect(harness.log.map(({ text }) => text)).toContainEqual(expect.stringContaining('will not go'))
  })
})
