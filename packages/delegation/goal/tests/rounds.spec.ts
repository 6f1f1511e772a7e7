import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Agent } from '@loopguard/agent-loop'
import * as goal from '@loopguard/goal'
import { createUserMessage, SessionId, text } from '@loopguard/llm'
import * as reminder from '@loopguard/repeat-tool-reminder'
import Subagents from '@loopguard/subagent'
import { createHarness, gate, userMessage } from '@loopguard/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { call, creates, results, rounds, stage, stops, story, updates } from './support.ts'

const options = { provider: 'scripted', model: 'scripted' }

describe('the rounds of a goal', () => {
  it('cap 3 and a model that never completes: exactly three rounds in the log, then blocked, idle', async () => {
    const harness = await stage({ script: [creates('tidy up', { maxRounds: 3 }), stops()] })
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(story(agent)).toEqual([
      'user: go',
      'goal-1 is created, 3 rounds',
      'goal-1 #1: Round 1 of 3',
      'goal-1 #2: Round 2 of 3',
      'goal-1 #3: Round 3 of 3',
      'goal-1 is blocked: round-limit',
    ])
    expect([agent.status, agent.inbox.hasPending, harness.model.count]).toEqual(['idle', false, 5])
    expect(goal.goalOf(agent.session)).toEqual({
      id: 'goal-1',
      objective: 'tidy up',
      maxRounds: 3,
      phase: 'blocked',
      reason: 'round-limit',
      rounds: 3,
    })
  })

  it('end when the model says that it is complete, paused or blocked', async () => {
    for (const phase of ['complete', 'paused', 'blocked']) {
      const harness = await stage({ script: [creates(), { text: 'ok' }, updates(phase, { reason: 'for now' }), stops()] })
      const agent = harness.agent()
      await harness.say(agent, 'go')
      expect(story(agent)).toEqual([
        'user: go',
        'goal-1 is created, 256 rounds',
        'goal-1 #1: Round 1 of 256',
        `goal-1 is ${phase}: for now`,
      ])
      expect(agent.status).toBe('idle')
    }
  })

  it('begin only when the turn that has set the goal is over, and whenIdle() waits for them', async () => {
    const harness = await stage({ script: [creates('a', { maxRounds: 1 }), { text: 'set' }, { text: 'round' }] })
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await agent.whenIdle()
    expect(agent.session.events.filter(({ type }) => type === 'turn/start')).toHaveLength(2)
    expect(rounds(agent)).toBe(1)
  })

  it('a turn that the token limit has cut is followed by the next', async () => {
    const harness = await stage({ script: [creates('a', { maxRounds: 2 }), { text: 'cut', finish: 'max-tokens' }, stops()] })
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(story(agent).slice(2)).toEqual([
      'ended max-tokens',
      'goal-1 #1: Round 1 of 2',
      'goal-1 #2: Round 2 of 2',
      'goal-1 is blocked: round-limit',
    ])
  })

  it('are each agent’s own', async () => {
    const harness = await stage({ script: [creates('a', { maxRounds: 1 }), stops()] })
    const [agent, other] = [harness.agent(), harness.agent()]
    await harness.say(agent, 'go')
    await harness.say(other, 'go')
    expect([rounds(agent), rounds(other)]).toEqual([1, 0])
  })
})

describe('a message of a user', () => {
  it('goes before the next round', async () => {
    const harness = await stage()
    const agent = harness.agent()
    harness.model.push(
      creates('a', { maxRounds: 2 }),
      { text: 'set' },
      () => (agent.followup(userMessage('wait')), { text: 'round 1' }),
      stops(),
    )
    await harness.say(agent, 'go')
    expect(story(agent).filter((line) => line.includes(': '))).toEqual([
      'user: go',
      'goal-1 #1: Round 1 of 2',
      'user: wait',
      'goal-1 #2: Round 2 of 2',
      'goal-1 is blocked: round-limit',
    ])
  })

  it('goes first also when it comes in the same breath as the agent gets idle, and just after a round was sent', async () => {
    const harness = await stage({ script: [creates('a', { maxRounds: 2 }), stops()] })
    const agent = harness.agent()
    const said: string[] = []
    harness.ctx.on('agent/status', ({ status }) => {
      if (status === 'idle' && said.length === 0) {
        said.push('idle')
        agent.followup(userMessage('at once'))
      }
    })
    harness.ctx.on('session/event', (_session, { type, data }) => {
      if (type !== 'inbox/queued' || data.message.source.kind !== 'goal' || said.length !== 1) return
      said.push('queued')
      agent.followup(userMessage('just after'))
    })
    await harness.say(agent, 'go')
    expect(story(agent).filter((line) => line.includes(': '))).toEqual([
      'user: go',
      'user: at once',
      'user: just after',
      'goal-1 #1: Round 1 of 2',
      'goal-1 #2: Round 2 of 2',
      'goal-1 is blocked: round-limit',
    ])
  })
})

describe('a turn that ends otherwise pauses the goal, and no round follows', () => {
  it('an error', async () => {
    const harness = await stage({ script: [creates(), { text: 'set' }] })
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(story(agent).slice(2)).toEqual(['goal-1 #1: Round 1 of 256', 'ended error', 'goal-1 is paused: error'])
    expect([agent.status, harness.model.count]).toEqual(['idle', 3])
  })

  it('a cancel, of a round and of a turn of the user', async () => {
    const harness = await stage()
    const agent = harness.agent()
    const cancels = (): 'hang' => (queueMicrotask(() => agent.cancel()), 'hang')
    harness.model.push(creates(), { text: 'set' }, cancels, updates('active'), cancels)
    await harness.say(agent, 'go')
    await harness.say(agent, 'go on')
    expect(story(agent).slice(2)).toEqual([
      'goal-1 #1: Round 1 of 256',
      'ended aborted',
      'goal-1 is paused: aborted',
      'user: go on',
      'goal-1 is active',
      'ended aborted',
      'goal-1 is paused: aborted',
    ])
    expect(agent.status).toBe('idle')
  })

  it('a cap that rejects the step', async () => {
    const harness = await stage({ script: [creates(), stops()] })
    const agent = harness.agent()
    let steps = 0
    harness.ctx.on('agent/pre-step', (_event, next) => (++steps > 3 ? Promise.resolve({ kind: 'reject' as const }) : next()))
    await harness.say(agent, 'go')
    expect(story(agent).slice(2)).toEqual(['goal-1 #1: Round 1 of 256', 'ended blocked', 'goal-1 is paused: blocked'])
    expect(steps).toBe(4)
  })

  it('a cancel before the round has begun', async () => {
    const harness = await stage({ script: [creates(), stops()] })
    const agent = harness.agent()
    harness.ctx.on('session/event', (_session, { type, data }) => {
      if (type === 'inbox/queued' && data.message.source.kind === 'goal') queueMicrotask(() => agent.cancel())
    })
    await harness.say(agent, 'go')
    expect(story(agent).slice(2)).toEqual(['goal-1 is paused: cancelled'])
    expect([agent.status, agent.inbox.hasPending]).toEqual(['idle', false])
  })

  it('a listener that keeps the round out: the same round is not sent for ever', async () => {
    const harness = await stage({ script: [creates(), stops()] })
    const agent = harness.agent()
    harness.ctx.on(
      'agent/pre-step',
      async (_event, next) => {
        const decision = await next()
        if (decision.kind !== 'enter') return decision
        return { ...decision, messages: decision.messages.filter(({ source }) => source.kind !== 'goal') }
      },
      { prepend: true },
    )
    await harness.say(agent, 'go')
    expect(story(agent).slice(2)).toEqual(['goal-1 is paused: round-dropped'])
    expect(agent.status).toBe('idle')
  })

  it('the end of its agent', async () => {
    const harness = await stage()
    const agent = harness.agent()
    const working = gate()
    harness.model.push(creates(), { text: 'set' }, () => (working.open(), 'hang'))
    agent.followup(userMessage('go'))
    await working.opened
    await agent.dispose()
    expect(story(agent).slice(2)).toEqual(['goal-1 #1: Round 1 of 256', 'ended aborted', 'goal-1 is paused: aborted'])
    expect(harness.log).toEqual([])
  })
})

describe('arming', () => {
  it('goes on where the rounds were, and never beyond the cap', async () => {
    const harness = await stage({
      script: [
        creates('a', { maxRounds: 2 }),
        { text: 'set' },
        updates('paused'),
        { text: 'ok' },
        updates('active'),
        stops(2),
        updates('active'),
        stops(),
      ],
    })
    const agent = harness.agent()
    await harness.say(agent, 'go')
    await harness.say(agent, 'go on')
    await harness.say(agent, 'and on')
    expect(story(agent)).toEqual([
      'user: go',
      'goal-1 is created, 2 rounds',
      'goal-1 #1: Round 1 of 2',
      'goal-1 is paused',
      'user: go on',
      'goal-1 is active',
      'goal-1 #2: Round 2 of 2',
      'goal-1 is blocked: round-limit',
      'user: and on',
    ])
    expect(results(agent).at(-1)).toBe('Error: limit reached: 2 rounds (goal.maxRounds); ask the user how to go on')
  })

  it('from outside, while the agent is idle, starts the next round', async () => {
    const harness = await stage({ script: [creates('a', { maxRounds: 2 }), { text: 'set' }, updates('paused'), stops()] })
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(rounds(agent)).toBe(1)
    await call(harness, 'update_goal', { phase: 'active' }, agent)
    await new Promise((resolve) => setImmediate(resolve))
    await agent.whenIdle()
    expect(rounds(agent)).toBe(2)
  })
})

describe('the ceiling', () => {
  it('bounds the rounds that follow one another, also when the model sets one goal after another', async () => {
    const again = [updates('complete'), creates('another', { maxRounds: 2 }), { text: 'set' }]
    const harness = await stage({
      config: { maxRounds: 3 },
      script: [creates('a', { maxRounds: 2 }), { text: 'set' }, ...again, ...again, ...again, stops()],
    })
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect([rounds(agent), agent.status]).toEqual([3, 'idle'])
    expect(results(agent).at(-1)).toContain('limit reached: 3 rounds (goal.maxRounds)')
    await harness.say(agent, 'go on')
    expect(rounds(agent)).toBe(3)
  })

  it('of a configuration that is lower now holds for a goal of before', async () => {
    const plain = await createHarness({ script: [creates('a', { maxRounds: 5 }), { text: 'set' }, updates('paused'), stops()] })
    onTestFinished(() => plain.dispose())
    const first = plain.ctx.plugin(goal)
    await first
    const agent = plain.agent()
    await plain.say(agent, 'go')
    await first.dispose()
    await plain.ctx.plugin(goal, { maxRounds: 2 })
    await call(plain, 'update_goal', { phase: 'active' }, agent)
    await new Promise((resolve) => setImmediate(resolve))
    await agent.whenIdle()
    expect(story(agent).slice(-3)).toEqual(['goal-1 is active', 'goal-1 #2: Round 2 of 2', 'goal-1 is blocked: round-limit'])
  })
})

describe('a life that ends', () => {
  async function directory(): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), 'goal-'))
    onTestFinished(() => rm(path, { recursive: true, force: true }))
    return path
  }

  /** Runs a goal of three rounds, then cuts the log as a kill at that event would. */
  async function killedAfter(path: string, isLast: (event: { type: string; data: Record<string, unknown> }) => boolean): Promise<void> {
    const harness = await createHarness({
      sessions: { directory: path },
      plugins: [goal],
      script: [creates('a', { maxRounds: 3 }), stops()],
    })
    await harness.say(harness.agent({ id: 'a' }), 'go')
    await harness.dispose()
    const lines = (await readFile(join(path, 'a.jsonl'), 'utf8')).trimEnd().split('\n')
    const at = lines.findIndex((line) => isLast(JSON.parse(line) as never))
    expect(at).toBeGreaterThan(0)
    await writeFile(
      join(path, 'a.jsonl'),
      lines
        .slice(0, at + 1)
        .map((line) => `${line}\n`)
        .join(''),
    )
  }

  async function resumed(path: string) {
    const harness = await stage({ sessions: { directory: path } })
    const agent = await harness.ctx.agentLoop.resume(SessionId('a'), options)
    return { harness, agent }
  }

  const isRound = (round: number, data: Record<string, unknown>): boolean =>
    (data['source'] as { kind: string; round?: number } | undefined)?.round === round

  it('killed after round 2: resumed it reads paused and does nothing; armed, one more round', async () => {
    const path = await directory()
    let ended = 0
    await killedAfter(path, ({ type }) => type === 'turn/end' && ++ended === 3)
    const { harness, agent } = await resumed(path)
    await new Promise((resolve) => setImmediate(resolve))
    expect([agent.status, rounds(agent), goal.goalOf(agent.session)?.phase]).toEqual(['idle', 2, 'paused'])
    harness.model.push({ calls: [{ name: 'get_goal', arguments: {} }] }, { text: 'It is paused.' }, updates('active'), stops())
    await harness.say(agent, 'how is it?')
    expect(JSON.parse(results(agent).at(-1)!)).toEqual({
      id: 'goal-1',
      objective: 'a',
      maxRounds: 3,
      phase: 'paused',
      reason: 'resumed',
      rounds: 2,
    })
    await harness.say(agent, 'go on')
    expect(story(agent).slice(4)).toEqual([
      'goal-1 is paused: resumed',
      'user: how is it?',
      'user: go on',
      'goal-1 is active',
      'goal-1 #3: Round 3 of 3',
      'goal-1 is blocked: round-limit',
    ])
  })

  it('killed in the middle of round 2: that round counts, and is not run again', async () => {
    const path = await directory()
    await killedAfter(path, ({ type, data }) => type === 'user/message' && isRound(2, data))
    const { harness, agent } = await resumed(path)
    harness.model.push(updates('active'), stops())
    await harness.say(agent, 'go on')
    expect(story(agent).slice(4)).toEqual([
      'ended interrupted',
      'goal-1 is paused: resumed',
      'user: go on',
      'goal-1 is active',
      'goal-1 #3: Round 3 of 3',
      'goal-1 is blocked: round-limit',
    ])
  })

  const queued = ({ type, data }: { type: string; data: Record<string, unknown> }): boolean =>
    type === 'inbox/queued' && isRound(2, data['message'] as Record<string, unknown>)

  it('killed with a round in the inbox: it does not run before the goal is armed, and then once', async () => {
    const path = await directory()
    await killedAfter(path, queued)
    const { harness, agent } = await resumed(path)
    expect(agent.inbox.nextTurn).toHaveLength(1)
    harness.model.push({ text: 'not yet' }, updates('active'), stops())
    await harness.say(agent, 'how is it?')
    await harness.say(agent, 'go on')
    expect(story(agent).slice(3)).toEqual([
      'goal-1 is paused: resumed',
      'user: how is it?',
      'user: go on',
      'goal-1 is active',
      'goal-1 #2: Round 2 of 3',
      'goal-1 #3: Round 3 of 3',
      'goal-1 is blocked: round-limit',
    ])
  })

  it('killed with a round in the inbox, and woken by a plugin: the round does not run', async () => {
    const path = await directory()
    await killedAfter(path, queued)
    const { harness, agent } = await resumed(path)
    harness.model.push({ text: 'heard' })
    agent.steer(createUserMessage({ content: [text('news')], source: { kind: 'plugin', plugin: 'jobs' } }))
    await agent.whenIdle()
    expect(story(agent).slice(3)).toEqual(['goal-1 is paused: resumed', 'plugin: news'])
    expect([agent.status, agent.inbox.hasPending]).toEqual(['idle', false])
  })

  it('killed with a round in the inbox, and armed from outside: that very round runs', async () => {
    const path = await directory()
    await killedAfter(path, queued)
    const { harness, agent } = await resumed(path)
    harness.model.push(stops())
    await call(harness, 'update_goal', { phase: 'active' }, agent)
    await new Promise((resolve) => setImmediate(resolve))
    await agent.whenIdle()
    expect(story(agent).slice(3)).toEqual([
      'goal-1 is paused: resumed',
      'goal-1 is active',
      'goal-1 #2: Round 2 of 3',
      'goal-1 #3: Round 3 of 3',
      'goal-1 is blocked: round-limit',
    ])
  })
})

describe('unloading the plugin', () => {
  it('sends no more rounds; loaded again, the goal reads paused', async () => {
    const harness = await createHarness()
    onTestFinished(() => harness.dispose())
    const plugin = harness.ctx.plugin(goal)
    await plugin
    const agent = harness.agent()
    const listeners = (): number => harness.ctx.fiber.getEffects().length
    const before = listeners()
    const working = gate()
    const go = gate()
    harness.model.push(creates(), { text: 'set' }, async () => (working.open(), await go.opened, { text: 'round 1' }), stops())
    const said = harness.say(agent, 'go')
    await working.opened
    await plugin.dispose()
    go.open()
    await said
    expect([rounds(agent), harness.ctx.tools.schemas().length]).toEqual([1, 0])
    await harness.ctx.plugin(goal)
    expect([goal.goalOf(agent.session)?.phase, story(agent).at(-1)]).toEqual(['paused', 'goal-1 is paused: reloaded'])
    expect(listeners()).toBe(before)
    await new Promise((resolve) => setImmediate(resolve))
    expect(rounds(agent)).toBe(1)
  })

  it('in the moment in which a round is due: it is not sent', async () => {
    const harness = await createHarness()
    onTestFinished(() => harness.dispose())
    const plugin = harness.ctx.plugin(goal)
    await plugin
    const agent = harness.agent()
    harness.ctx.on('agent/status', ({ status }) => {
      if (status === 'idle') void plugin.dispose()
    })
    harness.model.push(creates(), stops())
    await harness.say(agent, 'go')
    expect(rounds(agent)).toBe(0)
  })
})

describe('a child that sets a goal', () => {
  it('works on it in rounds before its parent has the result', async () => {
    const harness = await stage({
      plugins: [Subagents],
      script: [
        { calls: [{ name: 'subagent', arguments: { description: 'a', prompt: 'a' } }] },
        creates('a', { maxRounds: 2 }),
        { text: 'set' },
        { text: 'one' },
        { text: 'two' },
        { text: 'I have it.' },
      ],
    })
    const parent = harness.agent()
    await harness.say(parent, 'go')
    expect([results(parent), rounds(parent), harness.model.count]).toEqual([['two'], 0, 6])
  })
})

describe('a round message', () => {
  it('does not reset the chain of a reminder: three equal calls in three rounds are reminded', async () => {
    const look = { calls: [{ name: 'look', arguments: {} }] }
    const harness = await stage({
      plugins: [reminder],
      tools: [{ name: 'look', description: '', parameters: {}, execute: () => 'ok' }],
      script: [creates('a', { maxRounds: 3 }), { text: 'set' }, look, { text: '1' }, look, { text: '2' }, look, { text: '3' }],
    })
    const agent = harness.agent()
    await harness.say(agent, 'go')
    const order = agent.session.events.flatMap(({ type, data }) => {
      if (type === 'tool/call' && data.name === 'look') return ['look']
      return type === 'user/message' && data.source.kind === 'plugin' ? [data.source.plugin] : []
    })
    expect(order).toEqual(['look', 'look', 'look', 'repeat-tool-reminder'])
  })
})

describe('a log that takes no more', () => {
  it('ends the rounds, and says so', async () => {
    const harness = await stage({ invariants: false, script: [creates(), stops()] })
    const agent: Agent = harness.agent()
    harness.ctx.on('internal/dispatch', (_mode, name, args) => {
      const [, event] = args as [unknown, { type: string; data: { message?: { source: { kind: string } } } }]
      if (name === 'session/event' && event.type === 'inbox/queued' && event.data.message?.source.kind === 'goal')
        throw new Error('disk full')
    })
    await harness.say(agent, 'go')
    expect([rounds(agent), agent.status]).toEqual([0, 'idle'])
    expect(harness.log.map(({ text }) => text)).toEqual(['the goal of agent agent-1: disk full'])
  })
})
