import type { Context } from '@deepseek-ai/cordis'
import type { Config } from '@loopguard/budget'
import * as budget from '@loopguard/budget'
import * as budgetInvariant from '@loopguard/budget/invariant'
import { createUserMessage, text } from '@loopguard/llm'
import {
  createHarness,
  fakeClock,
  type Harness,
  type InvariantWatch,
  mountInvariants,
  type ScriptEntry,
  userMessage,
} from '@loopguard/testkit'
import type { Agent } from '@loopguard/agent-loop'
import { describe, expect, it, onTestFinished } from 'vitest'
import { forEver, looks, reached, restless, results, tool } from './stage.ts'

const OWN = '@loopguard/budget'
const stop = { text: 'done' }

interface Watched extends Pick<Harness, 'ctx' | 'model'> {
  readonly say: (agent: Agent, words: string) => Promise<void>
  readonly agent1: Agent
  readonly watch: InvariantWatch
}

/** A host whose cap behaves as `apply` says, under its companion alone. */
async function watched(config: Config, script: readonly ScriptEntry[], apply?: (ctx: Context) => void): Promise<Watched> {
  const harness = await createHarness({ invariants: false, script, tools: [tool('look'), tool('note')] })
  onTestFinished(() => harness.dispose())
  const watch = await mountInvariants(harness.ctx, { package_allowlist: ['^@loopguard/budget$'] })
  await harness.ctx.plugin(budgetInvariant)
  if (apply === undefined) await harness.ctx.plugin(budget, config)
  else
    await harness.ctx.plugin(
      { name: 'budget', inject: ['agentLoop', 'tools'], apply: (ctx: Context, _config: Config) => apply(ctx) },
      config,
    )
  return { ...harness, agent1: harness.agent(), watch }
}

/** Does nothing, where a cap would. */
const idle = (ctx: Context): void => {
  ctx.on('agent/pre-step', (_event, next) => next(), { prepend: true })
  ctx.on('tools/pre-execute', (_exec, next) => next(), { prepend: true })
}

/** Stops or denies, and logs nothing. */
const silent = (ctx: Context): void => {
  ctx.on('agent/pre-step', async ({ step }, next) => (step > 2 ? { kind: 'reject', keep: true } : next()), { prepend: true })
  ctx.on('tools/pre-execute', async () => ({ kind: 'deny', reason: 'no' }), { prepend: true })
}

describe('no step is entered beyond a limit', () => {
  it('trips when the cap lets a turn have a step too many', async () => {
    const { agent1, watch, say } = await watched({ maxStepsPerTurn: 2 }, [looks('a'), looks('b'), stop], idle)
    await say(agent1, 'go')
    expect(watch.violations).not.toEqual([])
    watch.assertBroken(OWN, /agent "agent-1": the model was asked in step 3, beyond maxStepsPerTurn$/)
    expect(watch.violations).toHaveLength(1)
  })

  it('trips when the cap counts the steps of each turn anew for the agent', async () => {
    const { agent1, watch, say } = await watched({ maxStepsPerAgent: 1 }, [stop, stop], idle)
    await say(agent1, 'one')
    await say(agent1, 'two')
    expect(watch.violations).not.toEqual([])
    watch.assertBroken(OWN, /the model was asked in step 1, beyond maxStepsPerAgent$/)
  })

  it('trips when the cap forgets the tokens', async () => {
    const usage = { inputTokens: 60, outputTokens: 40 }
    const { agent1, watch, say } = await watched({ maxTokensPerTurn: 100, maxTokensPerAgent: 100 }, [looks('a', { usage }), stop], idle)
    await say(agent1, 'go')
    expect(watch.violations).not.toEqual([])
    watch.assertBroken(
      OWN,
      /the model was asked in step 2, beyond maxTokensPerAgent and maxTokensPerTurn$|beyond maxTokensPerTurn and maxTokensPerAgent$/,
    )
  })

  it('trips when the request of a step too many fails', async () => {
    const { agent1, watch, say } = await watched({ maxStepsPerTurn: 1 }, [looks('a')], idle)
    await say(agent1, 'go')
    expect(watch.violations).not.toEqual([])
    watch.assertBroken(OWN, /the model was asked in step 2, beyond maxStepsPerTurn$/)
  })
})

describe('no call runs beyond a limit', () => {
  it('trips when the cap lets a turn make a call too many', async () => {
    const { agent1, watch, say } = await watched({ maxCallsPerTurn: 1 }, [looks('a'), looks('b'), stop], idle)
    await say(agent1, 'go')
    expect(watch.violations).not.toEqual([])
    watch.assertBroken(OWN, /agent "agent-1": the call "call_2" of "look" runs beyond maxCallsPerTurn$/)
    expect(results(agent1)[1]).toContain('runs beyond maxCallsPerTurn')
  })

  it('trips when the cap counts the calls of each turn anew for the agent', async () => {
    const { agent1, watch, say } = await watched({ maxCallsPerAgent: 1 }, [looks('a'), stop, looks('b'), stop], idle)
    await say(agent1, 'one')
    await say(agent1, 'two')
    expect(watch.violations).not.toEqual([])
    watch.assertBroken(OWN, /the call "call_2" of "look" runs beyond maxCallsPerAgent$/)
  })

  it('trips when the cap takes a message of a plugin for the end of a run', async () => {
    const { agent1, watch, ctx } = await watched({ maxEqualCalls: 1 }, [looks('a'), stop, looks('a'), stop], idle)
    ctx.tools.guard(() => undefined)
    agent1.followup(userMessage('go'))
    await agent1.whenIdle()
    agent1.followup(createUserMessage({ content: [text('go on')], source: { kind: 'plugin', plugin: 'note' } }))
    await agent1.whenIdle()
    expect(watch.violations).not.toEqual([])
    watch.assertBroken(OWN, /the call "call_2" of "look" runs beyond maxEqualCalls$/)
  })

  it('trips when an excluded call ends a run of the cap', async () => {
    const note = { calls: [{ name: 'note', arguments: {} }] }
    const { agent1, watch, say } = await watched(
      { maxEqualCalls: 1, exclude: ['n*'], include: [] },
      [looks('a'), note, looks('a'), stop],
      idle,
    )
    await say(agent1, 'go')
    expect(watch.violations).not.toEqual([])
    watch.assertBroken(OWN, /the call "call_3" of "look" runs beyond maxEqualCalls$/)
  })
})

describe('each limit that acts stands in the log, once, and is true', () => {
  it('trips when a turn is blocked without a word', async () => {
    const { agent1, watch, say } = await watched({ maxStepsPerTurn: 2 }, forEver(restless()), silent)
    await say(agent1, 'go')
    expect(watch.violations).not.toEqual([])
    watch.assertBroken(OWN, /agent "agent-1": a turn met maxStepsPerTurn, and the log does not say so$/)
  })

  it('trips when a call is denied without a word', async () => {
    const { agent1, watch, say } = await watched({ maxCallsPerTurn: 1 }, [looks('a'), looks('b'), stop], silent)
    await say(agent1, 'go')
    expect(watch.violations).not.toEqual([])
    watch.assertBroken(OWN, /agent "agent-1": the call "call_2" met maxCallsPerTurn, and the log does not say so$/)
  })

  it.each([
    ['maxStepsPerTurn', 3, { maxStepsPerTurn: 3 }, 1],
    ['maxCallsPerAgent', 2, { maxCallsPerAgent: 2 }, 1],
    ['maxTokensPerTurn', 9, { maxTokensPerTurn: 9 }, 0],
    ['maxEqualCalls', 2, { maxEqualCalls: 2 }, 0],
    ['maxTurnMs', 60_000, { maxTurnMs: 60_000 }, undefined],
    ['maxAgentMs', 60_000, { maxAgentMs: 60_000 }, undefined],
  ] as const)('a limit (%s) that is told before it is reached', async (limit, value, config, used) => {
    const { agent1, watch, say, ctx } = await watched(config, [looks('a'), stop])
    ctx.on('tools/execute', (_exec, next) => {
      expect(() => agent1.session.append('budget/reached', { turn: 1, step: 1, limit, value })).toThrow('invariant violated')
      return next()
    })
    await say(agent1, 'go')
    expect(watch.violations).not.toEqual([])
    watch.assertBroken(OWN, new RegExp(`budget/reached of ${limit} \\(${value}\\) comes at ${used ?? '\\d+'}$`))
    expect(reached(agent1)).toEqual([])
  })

  it('trips when a limit is told before it is reached', async () => {
    const { agent1, watch, say } = await watched({ maxStepsPerTurn: 3 }, [looks('a'), stop], (ctx) => {
      ctx.on('agent/pre-step', ({ agent }, next) => {
        agent.session.append('budget/reached', { turn: 1, step: 1, limit: 'maxStepsPerTurn', value: 3 })
        return next()
      })
    })
    await say(agent1, 'go')
    expect(watch.violations).not.toEqual([])
    watch.assertBroken(OWN, /session "agent-1": budget\/reached of maxStepsPerTurn \(3\) comes at 0$/)
    expect(reached(agent1)).toEqual([])
  })

  it('trips when a limit is told again in its turn', async () => {
    const { agent1, watch, say, ctx } = await watched({ maxStepsPerTurn: 1 }, [looks('a')])
    ctx.on('session/event', (session, { type, data }) => {
      if (type === 'budget/reached') session.append(type, data)
    })
    await say(agent1, 'go')
    expect(watch.violations).not.toEqual([])
    watch.assertBroken(OWN, /budget\/reached of maxStepsPerTurn \(1\) is told again$/)
    expect(reached(agent1)).toEqual(['1.2 maxStepsPerTurn 1'])
  })

  it('trips when a limit of the agent is told in each of its turns', async () => {
    const { agent1, watch, say } = await watched({ maxStepsPerAgent: 1 }, [stop], (ctx) => {
      ctx.on('agent/pre-step', async ({ agent, turn, step }, next) => {
        if (turn === 1) return next()
        agent.session.append('budget/reached', { turn, step, limit: 'maxStepsPerAgent', value: 1 })
        return { kind: 'reject', keep: true }
      })
    })
    for (const words of ['one', 'two', 'three']) await say(agent1, words)
    expect(watch.violations).not.toEqual([])
    watch.assertBroken(OWN, /budget\/reached of maxStepsPerAgent \(1\) is told again$/)
  })

  it('trips when a limit is told that is not set', async () => {
    const { agent1, watch } = await watched({ maxStepsPerTurn: 3 }, [])
    const tell = (value: number): unknown => agent1.session.append('budget/reached', { turn: 1, step: 1, limit: 'maxCallsPerTurn', value })
    expect(() => tell(3)).toThrow('is no limit that is set')
    expect(watch.violations).not.toEqual([])
    watch.assertBroken(OWN, /session "agent-1": budget\/reached of maxCallsPerTurn \(3\) is no limit that is set$/)
  })
})

describe('the companion is silent about', () => {
  it('a run that it has not seen begin', async () => {
    const harness = await createHarness({ invariants: false, script: forEver(() => looks('a')), tools: [tool('look')] })
    onTestFinished(() => harness.dispose())
    const watch = await mountInvariants(harness.ctx, { package_allowlist: ['^@loopguard/budget$'] })
    await harness.ctx.plugin(budget, { maxEqualCalls: 3, maxStepsPerTurn: 8 })
    const agent = harness.agent()
    harness.ctx.on('tools/result', async () => {
      if (harness.model.count === 2) await harness.ctx.plugin(budgetInvariant)
    })
    await harness.say(agent, 'go')
    expect(reached(agent)).toEqual(['1.4 maxEqualCalls 3', '1.9 maxStepsPerTurn 8'])
    expect(watch.violations).toEqual([])
  })

  it('a run of which it has seen no call', async () => {
    const { agent1, watch } = await watched({ maxEqualCalls: 2 }, [])
    agent1.session.append('budget/reached', { turn: 1, step: 1, limit: 'maxEqualCalls', value: 2 })
    expect([reached(agent1), watch.violations]).toEqual([['1.1 maxEqualCalls 2'], []])
  })

  it('a run that a listener further out keeps from the cap, and a user whom it does', async () => {
    const { agent1, watch, say, ctx } = await watched({ maxEqualCalls: 1, maxStepsPerTurn: 4 }, [
      looks('a'),
      looks('a'),
      looks('b'),
      stop,
      looks('b'),
      stop,
    ])
    const outer = {
      name: 'outer',
      apply: (own: Context) => void own.on('tools/pre-execute', async () => ({ kind: 'deny', reason: 'no' }), { prepend: true }),
    }
    const fiber = harnessPlugin(ctx, outer)
    await fiber.loaded
    await say(agent1, 'go')
    await fiber.dispose()
    ctx.on('agent/pre-step', (_event, next) => next(), { prepend: true })
    await say(agent1, 'again')
    expect(reached(agent1)).toEqual([])
    expect(watch.violations).toEqual([])
  })

  it('two caps, whose limits it cannot tell apart', async () => {
    const { agent1, watch, say, ctx } = await watched({ maxStepsPerTurn: 3 }, forEver(restless()))
    await ctx.plugin(budget, { maxStepsPerTurn: 2 })
    await say(agent1, 'go')
    expect(reached(agent1)).toEqual(['1.3 maxStepsPerTurn 2'])
    expect(watch.violations).toEqual([])
  })

  it('a cap that is unloaded between a limit and its step', async () => {
    const { agent1, watch, say, ctx } = await watched({ maxStepsPerTurn: 9 }, [looks('a'), looks('b'), stop])
    const mutant = ctx.plugin({ name: 'outer', apply: () => undefined })
    await mutant
    await say(agent1, 'go')
    const harness = await watched({ maxStepsPerTurn: 1, maxCallsPerTurn: 1 }, [looks('a'), looks('b'), stop], (own) => {
      own.on(
        'agent/pre-step',
        async ({ step }, next) => {
          if (step === 2) await own.fiber.dispose()
          return next()
        },
        { prepend: true },
      )
    })
    await harness.say(harness.agent1, 'go')
    expect(results(harness.agent1)).toHaveLength(2)
    expect(watch.violations).toEqual([])
    expect(harness.watch.violations).toEqual([])
  })

  it('what others write that no cap is loaded for, and a log of which no agent is known', async () => {
    const harness = await createHarness({ invariants: false })
    onTestFinished(() => harness.dispose())
    const watch = await mountInvariants(harness.ctx, { package_allowlist: ['^@loopguard/budget$'] })
    await harness.ctx.plugin(budgetInvariant)
    const data = { turn: 1, step: 1, limit: 'maxStepsPerTurn', value: 1 } as const
    harness.agent().session.append('budget/reached', data)
    harness.ctx.sessions.create('other').append('budget/reached', data)
    expect(watch.violations).toEqual([])
  })

  it('time as the log has it, also of a turn that was interrupted', async () => {
    const clock = fakeClock()
    onTestFinished(() => clock.restore())
    const { agent1, watch } = await watched({ maxTurnMs: 100, maxAgentMs: 250 }, ['hang', 'hang', 'hang'])
    for (const words of ['one', 'two', 'three']) {
      agent1.followup(userMessage(words))
      await clock.advance(100)
    }
    expect(reached(agent1)).toEqual(['1.1 maxTurnMs 100', '2.1 maxTurnMs 100', '3.1 maxAgentMs 250'])
    expect(watch.violations).toEqual([])
  })
})

function harnessPlugin(ctx: Context, plugin: { name: string; apply: (ctx: Context) => void }) {
  const loaded = ctx.plugin(plugin)
  return { loaded, dispose: () => loaded.ctx.fiber.dispose() }
}
