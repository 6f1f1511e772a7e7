import * as goal from '@loopguard/goal'
import { createHarness } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'
import { call, creates, results, stage, stops, textOf, updates } from './support.ts'

describe('create_goal', () => {
  it('answers with the goal, and get_goal does', async () => {
    const harness = await stage({
      script: [creates('  tidy up ', { maxRounds: 1 }), { calls: [{ name: 'get_goal', arguments: {} }] }, stops()],
    })
    const agent = harness.agent()
    await harness.say(agent, 'go')
    const shown = { id: 'goal-1', objective: 'tidy up', maxRounds: 1, phase: 'active', rounds: 0 }
    expect(results(agent).map((text) => JSON.parse(text) as unknown)).toEqual([shown, shown])
  })

  it('above the ceiling is refused, not clamped; so are no rounds, and an objective that says nothing', async () => {
    const harness = await stage({ config: { maxRounds: 5 } })
    const agent = harness.agent()
    const error = async (args: object): Promise<unknown> => {
      const result = await call(harness, 'create_goal', args, agent)
      return result.isError ? [result.error.info?.code, result.error.message] : result
    }
    expect(await error({ objective: 'a', maxRounds: 6 })).toEqual(['BAD_GOAL', 'maxRounds must be an integer from 1 to 5, got 6'])
    for (const args of [{ objective: 'a', maxRounds: 0 }, { objective: 'a', maxRounds: 1.5 }, { objective: ' ' }, {}]) {
      expect(await error(args)).toMatchObject(['INVALID_ARGS', expect.anything()])
    }
    expect(goal.goalOf(agent.session)).toBeUndefined()
  })

  it('while there is an unfinished one is refused; ids count on', async () => {
    const harness = await stage({
      script: [
        creates(),
        creates('other'),
        updates('paused'),
        creates('other'),
        updates('blocked'),
        creates('other', { maxRounds: 1 }),
        stops(),
      ],
    })
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(results(agent)[1]).toBe('Error: goal-1 is active: update it to complete or blocked before you create another one')
    expect(results(agent)[3]).toBe('Error: goal-1 is paused: update it to complete or blocked before you create another one')
    expect(goal.goalOf(agent.session)).toMatchObject({ id: 'goal-2', objective: 'other', rounds: 1 })
  })
})

describe('update_goal', () => {
  it('without a goal, and of one that is complete, is refused', async () => {
    const harness = await stage({
      script: [updates('active'), creates(), updates('complete', { reason: 'done' }), updates('active'), stops()],
    })
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(results(agent)[0]).toBe('Error: there is no goal: create_goal sets one')
    expect(JSON.parse(results(agent)[2]!)).toMatchObject({ phase: 'complete', reason: 'done' })
    expect(results(agent)[3]).toBe('Error: goal-1 is complete, and stays so: create_goal sets another one')
  })

  it('takes the phases that there are', async () => {
    const harness = await stage()
    expect(await call(harness, 'update_goal', { phase: 'done' }, harness.agent())).toMatchObject({
      error: { info: { code: 'INVALID_ARGS' } },
    })
  })

  it('drops the reason of the phase before', async () => {
    const harness = await stage({ script: [creates(), updates('paused', { reason: 'lunch' }), updates('blocked'), stops()] })
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(goal.goalOf(agent.session)).toEqual({ id: 'goal-1', objective: 'tidy up', maxRounds: 256, phase: 'blocked', rounds: 0 })
  })
})

describe('get_goal', () => {
  it('says when there is none, and needs an agent with a session', async () => {
    const harness = await stage()
    expect(textOf(await call(harness, 'get_goal', {}, harness.agent()))).toBe('(no goal)')
    for (const [name, args] of [
      ['get_goal', {}],
      ['create_goal', { objective: 'a' }],
      ['update_goal', { phase: 'active' }],
    ] as const) {
      expect(await call(harness, name, args)).toMatchObject({ error: { info: { code: 'BAD_GOAL' } } })
    }
  })
})

describe('the plugin', () => {
  it.each([{ maxRounds: 0 }, { maxRounds: 2.5 }, { rounds: 3 }, { maxRounds: null }])('refuses the configuration %j', async (config) => {
    await expect(createHarness({ plugins: [[goal, config]] })).rejects.toThrow(/maxRounds|rounds/)
  })

  it('takes its tools away with it', async () => {
    const harness = await createHarness()
    const plugin = harness.ctx.plugin(goal)
    await plugin
    expect(harness.ctx.tools.schemas().map(({ name }) => name)).toEqual(['create_goal', 'get_goal', 'update_goal'])
    await plugin.dispose()
    expect(harness.ctx.tools.schemas()).toEqual([])
    await harness.dispose()
  })
})
