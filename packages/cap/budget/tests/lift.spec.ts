import type { Context } from '@deepseek-ai/cordis'
import type { PreStepDecision } from '@loopguard/agent-loop'
import { gate, userMessage } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'
import { countOf, denial, ends, forEver, looks, reached, restless, results, stage } from './stage.ts'

const stop = { text: 'done' }

describe('a listener that was registered later cannot lift a limit', () => {
  it('of steps: it is not asked', async () => {
    const { agent1, model, say, ctx } = await stage({ maxStepsPerTurn: 2 }, { script: forEver(restless()) })
    let asked = 0
    ctx.on('agent/pre-step', async ({ messages }) => (asked++, { kind: 'enter', messages }))
    await say(agent1, 'go')
    expect([model.count, asked, ends(agent1)]).toEqual([2, 2, ['blocked']])
  })

  it('of calls: it is not asked', async () => {
    const { agent1, say, ctx } = await stage({ maxCallsPerTurn: 1 }, { script: [looks('a'), looks('b'), stop] })
    let asked = 0
    ctx.on('tools/pre-execute', async () => (asked++, { kind: 'allow' }))
    await say(agent1, 'go')
    expect([asked, results(agent1)[1]]).toEqual([1, denial('1 tool call in this turn (budget.maxCallsPerTurn)')])
  })

  it('nor can one that was registered before', async () => {
    const before = {
      name: 'before',
      apply(ctx: Context): void {
        ctx.on('agent/pre-step', async ({ messages }) => ({ kind: 'enter', messages }))
        ctx.on('tools/pre-execute', async () => ((asked += 1), { kind: 'allow' }))
      },
    }
    let asked = 0
    const { agent1, model, say } = await stage(
      { maxStepsPerTurn: 3, maxCallsPerTurn: 1 },
      { script: forEver(restless()), plugins: [before] },
    )
    await say(agent1, 'go')
    expect([model.count, asked, ends(agent1), countOf(agent1, 'step/start')]).toEqual([3, 1, ['blocked'], 3])
  })

  it.each<[string, (next: () => Promise<unknown>) => Promise<unknown>]>([
    ['asks and overrules', (next) => next()],
    ['does not ask', async () => undefined],
  ])('of steps, also when it stands further out and %s: the step asks no model', async (_what, ask) => {
    const { agent1, model, say, ctx } = await stage({ maxStepsPerTurn: 2 }, { script: forEver(restless()) })
    ctx.on('agent/pre-step', async ({ messages }, next) => (await ask(next), { kind: 'enter', messages }) as PreStepDecision, {
      prepend: true,
    })
    await say(agent1, 'go')
    expect(model.count).toBe(2)
    expect([ends(agent1), countOf(agent1, 'step/start')]).toEqual([['aborted {"kind":"budget","limit":"maxStepsPerTurn"}'], 3])
    expect(reached(agent1)).toEqual(['1.3 maxStepsPerTurn 2'])
    await say(agent1, 'more')
    expect(model.count).toBe(4)
  })

  it('of steps of the agent, also in later turns', async () => {
    const { agent1, model, say, ctx } = await stage({ maxStepsPerAgent: 1 }, { script: forEver(restless()) })
    ctx.on('agent/pre-step', async ({ messages }) => ({ kind: 'enter', messages }), { prepend: true })
    for (const words of ['one', 'two', 'three']) await say(agent1, words)
    expect([model.count, new Set(ends(agent1))]).toEqual([1, new Set(['aborted {"kind":"budget","limit":"maxStepsPerAgent"}'])])
    expect(reached(agent1)).toEqual(['1.2 maxStepsPerAgent 1'])
  })

  it.each<[string, (next: () => Promise<unknown>) => Promise<unknown>]>([
    ['asks and overrules', (next) => next()],
    ['does not ask', async () => undefined],
  ])('of calls, also when it stands further out and %s: the guard behind it denies, and counts each call once', async (_what, ask) => {
    const { agent1, say, ctx } = await stage({ maxEqualCalls: 2 }, { script: [looks(), looks(), looks(), looks('b'), stop] })
    ctx.on('tools/pre-execute', async (_exec, next) => (await ask(next), { kind: 'allow' }), { prepend: true })
    await say(agent1, 'go')
    expect(results(agent1)).toEqual([
      'look is done',
      'look is done',
      denial('2 equal calls in a row (budget.maxEqualCalls)'),
      'look is done',
    ])
    expect(reached(agent1)).toEqual(['1.3 maxEqualCalls 2'])
  })

  it('a call counts once, also when another one is judged while a listener holds it back', async () => {
    const { agent1, agent, say, ctx } = await stage({ maxEqualCalls: 2 }, { script: [looks(), looks(), looks('b'), stop, stop] })
    const other = agent()
    let calls = 0
    ctx.on('tools/pre-execute', async (_exec, next) => {
      // The second call of the one waits for a whole turn of the other.
      if (++calls === 2) await say(other, 'go')
      return next()
    })
    await say(agent1, 'go')
    expect([reached(agent1), results(agent1), results(other)]).toEqual([[], ['look is done', 'look is done'], ['look is done']])
  })

  it('a listener that throws fails its own step or call, and no count is lost', async () => {
    const { agent1, model, say, ctx } = await stage({ maxCallsPerTurn: 2, maxStepsPerAgent: 4 }, { script: forEver(restless()) })
    let fails = true
    ctx.on('tools/pre-execute', (_exec, next) => {
      if (fails) throw new Error('broken')
      return next()
    })
    ctx.on('agent/pre-step', ({ step }, next) => {
      if (step === 4) throw new Error('broken too')
      return next()
    })
    await say(agent1, 'one')
    fails = false
    expect(results(agent1)).toEqual(['Error: broken', 'Error: broken', denial('2 tool calls in this turn (budget.maxCallsPerTurn)')])
    await say(agent1, 'two')
    expect([model.count, ends(agent1)]).toEqual([4, ['error LOOP_FAILED: broken too', 'blocked']])
  })
})

describe('once it is unloaded', () => {
  it('every limit is gone at once, in the middle of a turn', async () => {
    const begun = gate()
    const { agent1, model, say, unload, ctx } = await stage(
      { maxStepsPerTurn: 3, maxCallsPerTurn: 2, maxEqualCalls: 1, maxStepsPerAgent: 3, maxTurnMs: 60_000 },
      { script: [...Array.from({ length: 9 }, () => looks()), stop] },
    )
    ctx.on('tools/result', async () => {
      if (model.count === 2) {
        await unload()
        begun.open()
      }
    })
    await say(agent1, 'go')
    await begun.opened
    expect([model.count, ends(agent1)]).toEqual([10, ['completed']])
    expect(results(agent1).map((said) => said.split(' ')[0])).toEqual(['look', 'DENIED', ...Array.from({ length: 7 }, () => 'look')])
  })

  it('neither listeners nor guards are left', async () => {
    const { ctx, unload } = await stage({ maxStepsPerTurn: 1, maxCallsPerTurn: 1, maxTurnMs: 1 })
    const left = (): number[] =>
      ['agent/pre-step', 'tools/pre-execute', 'session/event', 'agent/status'].map(
        (event) =>
          (ctx.events as unknown as { _hooks: Record<string, { ctx: { fiber: { name: string } } }[]> })._hooks[event]!.filter(
            (hook) => hook.ctx.fiber.name === 'budget',
          ).length,
      )
    expect(left()).toEqual([1, 1, 1, 1])
    await unload()
    expect(left()).toEqual([0, 0, 0, 0])
  })

  it('a dispatch that was under way is not stopped either', async () => {
    const [asked, go] = [gate(), gate()]
    const { agent1, model, unload, ctx } = await stage(
      { maxStepsPerAgent: 1, maxCallsPerAgent: 1 },
      { script: [looks(), looks('b'), looks('c'), stop] },
    )
    ctx.on(
      'agent/pre-step',
      async ({ step }, next) => {
        if (step === 2) {
          asked.open()
          await go.opened
        }
        return next()
      },
      { prepend: true },
    )
    agent1.followup(userMessage('go'))
    await asked.opened
    await unload()
    go.open()
    await agent1.whenIdle()
    expect([model.count, ends(agent1), reached(agent1)]).toEqual([4, ['completed'], []])
  })

  it('nor is a call that a listener held back', async () => {
    const [asked, go] = [gate(), gate()]
    const { agent1, unload, ctx } = await stage({ maxCallsPerAgent: 1 }, { script: [looks(), looks('b'), stop] })
    let calls = 0
    ctx.on(
      'tools/pre-execute',
      async (_exec, next) => {
        if (++calls === 2) {
          asked.open()
          await go.opened
        }
        return next()
      },
      { prepend: true },
    )
    agent1.followup(userMessage('go'))
    await asked.opened
    await unload()
    go.open()
    await agent1.whenIdle()
    expect([results(agent1), reached(agent1)]).toEqual([['look is done', 'look is done'], []])
  })
})
