import * as budget from '@loopguard/budget'
import { fakeClock, userMessage } from '@loopguard/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { denial, ends, forEver, looks, reached, restless, results, stage } from './stage.ts'

describe('a cap that is mounted through an agent', () => {
  it('stops that agent alone', async () => {
    const { agent1, agent, model, say, unload } = await stage({ maxStepsPerTurn: 1 }, { script: forEver(restless()) })
    await unload()
    const other = agent()
    await agent1.ctx.plugin(budget, { maxStepsPerTurn: 2, maxCallsPerTurn: 1 })
    await other.ctx.plugin(budget, { maxStepsPerTurn: 3 })
    await Promise.all([say(agent1, 'go'), say(other, 'go')])
    expect(model.count).toBe(5)
    expect([reached(agent1), reached(other)]).toEqual([['1.2 maxCallsPerTurn 1', '1.3 maxStepsPerTurn 2'], ['1.4 maxStepsPerTurn 3']])
  })

  it('looks after the time of that agent alone', async () => {
    const clock = fakeClock()
    onTestFinished(() => clock.restore())
    const { agent1, agent, unload } = await stage({ maxStepsPerTurn: 9 }, { script: ['hang', 'hang'] })
    await unload()
    const other = agent()
    await agent1.ctx.plugin(budget, { maxTurnMs: 100 })
    agent1.followup(userMessage('go'))
    other.followup(userMessage('go'))
    await clock.advance(5_000)
    expect([agent1.status, other.status]).toEqual(['idle', 'running'])
    other.cancel()
    await other.whenIdle()
    expect([ends(agent1), ends(other)]).toEqual([['aborted {"kind":"budget","limit":"maxTurnMs"}'], ['aborted {"kind":"user"}']])
  })

  it('goes with the agent', async () => {
    const clock = fakeClock()
    onTestFinished(() => clock.restore())
    const { agent1, unload } = await stage({ maxStepsPerTurn: 9 }, { script: ['hang'] })
    await unload()
    await agent1.ctx.plugin(budget, { maxTurnMs: 100 })
    agent1.followup(userMessage('go'))
    await clock.advance(10)
    expect(clock.pending).toBe(1)
    await agent1.dispose()
    expect([clock.pending, ends(agent1)]).toEqual([0, ['aborted {"kind":"disposed"}']])
  })
})

describe('two caps', () => {
  it('with different limits: the one that is reached first acts', async () => {
    const { agent1, model, say, ctx } = await stage({ maxStepsPerTurn: 4, maxCallsPerTurn: 1 }, { script: forEver(restless()) })
    await ctx.plugin(budget, { maxStepsPerTurn: 3, maxCallsPerTurn: 2 })
    await say(agent1, 'go')
    expect([model.count, results(agent1).at(-1)]).toEqual([3, denial('2 tool calls in this turn (budget.maxCallsPerTurn)')])
    expect(results(agent1)[1]).toBe(denial('1 tool call in this turn (budget.maxCallsPerTurn)'))
  })
})

describe('a log that does not take that a limit was reached', () => {
  it('changes nothing: the step is not entered, the call is denied, and it is logged as an error', async () => {
    const { agent1, model, say, ctx, log } = await stage(
      { maxStepsPerTurn: 3, maxCallsPerTurn: 1 },
      { script: [looks('a'), looks('b'), looks('c'), looks('d')], invariants: { package_blocklist: ['budget'] } },
    )
    ctx.on('internal/dispatch', (_mode, name, args) => {
      if (name === 'session/event' && (args[1] as { type: string }).type === 'budget/reached') throw new Error('100% no')
    })
    await say(agent1, 'go')
    expect([model.count, ends(agent1), reached(agent1), agent1.inbox.hasPending]).toEqual([3, ['blocked'], [], false])
    expect(results(agent1).map((said) => said.split(' ')[0])).toEqual(['look', 'DENIED', 'DENIED'])
    expect(log.map(({ name, text }) => `${name}: ${text.split('\n')[0]}`)).toEqual([
      expect.stringContaining('budget: maxCallsPerTurn is reached, and the log of agent-1 does not take it: 100% no'),
      expect.stringContaining('budget: maxCallsPerTurn is reached, and the log of agent-1 does not take it: 100% no'),
      expect.stringContaining('budget: maxStepsPerTurn is reached, and the log of agent-1 does not take it: 100% no'),
    ])
  })
})

describe('what is written into a log while no agent runs on it', () => {
  it('wakes and cancels nothing', async () => {
    const { agent1, agent, ctx, say, model } = await stage(
      { maxStepsPerTurn: 1, maxTurnMs: 9 },
      { script: [{ text: 'ok' }], invariants: false },
    )
    const session = ctx.sessions.create('old')
    for (const log of [session, agent1.session]) {
      log.append('turn/start', { turn: 1 })
      log.append('step/start', { turn: 1, step: 1 })
      log.append('step/end', { turn: 1, step: 1 })
      log.append('step/start', { turn: 1, step: 2 })
      log.append('step/end', { turn: 1, step: 2 })
      log.append('turn/end', { turn: 1, reason: { kind: 'completed' } })
    }
    expect([reached({ session }), reached(agent1)]).toEqual([[], []])
    await say(agent(), 'go')
    expect(model.count).toBe(1)
  })
})
