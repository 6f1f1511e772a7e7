import { runInNewContext } from 'node:vm'
import type { Context } from '@deepseek-ai/cordis'
import { CallId, SessionId, text } from '@loopguard/llm'
import * as reminder from '@loopguard/repeat-tool-reminder'
import { createHarness, gate, mountInvariants } from '@loopguard/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CALLS, execute, heard, isReminder, play, preStep, tools } from './stage.ts'
import { doubling, foreignHost, forged, NAME, OWN, post, PREPEND, refuseReminders, said, watched } from './watched.ts'

describe('the companion is silent about', () => {
  it.each([
    ['A A A A A A A A A', 'A A A ! A A !5 A A A !8 A'],
    ['AAAAAAAA', 'A A A A A A A A ! !5 !8'],
    ['A A U A A A', 'A A A A A !'],
    ['A A P A', 'A A A !'],
    ['A A X A', 'A A X A !'],
    ['A A text A', 'A A A !'],
    ['D D D I I I M M M N N N T T T', 'D D D ! I I I ! M M M ! N N N ! T T T !'],
    ['O O O O O', 'O O O ! O O !5'],
    ['C C C C C', 'C C C C C'],
  ])('%s', async (trace, expected) => {
    const { harness, agent, watch } = await watched({ exclude: ['note_*'] })
    await play(harness, agent, trace)
    expect(heard(agent)).toBe(expected)
    watch.assertNone()
  })

  it('a call that ends the turn and was blocked', async () => {
    const { harness, ctx, agent, watch } = await watched({ thresholds: [2] })
    ctx.on('tools/post-execute', () => Promise.resolve({ kind: 'block', feedback: [text('not yet')] }))
    await play(harness, agent, 'C C')
    expect(heard(agent)).toBe('C C !')
    watch.assertNone()
  })

  it('a call that ends the turn, and was blocked only after the guard had seen that it was not', async () => {
    const { harness, ctx, agent, watch } = await watched({ thresholds: [2] })
    post(ctx, () => ({ kind: 'block', feedback: [text('not yet')] }), PREPEND)
    await play(harness, agent, 'C C')
    expect(heard(agent)).toBe('C C')
    watch.assertNone()
  })

  it('reminders that a host hands to the inbox instead of the log', async () => {
    const { harness, ctx, agent, watch } = await watched()
    refuseReminders(ctx)
    ctx.on('tools/result', (_exec, { additionalContexts = [] }) => additionalContexts.forEach((context) => agent.inject(context)))
    await play(harness, agent, 'A A A')
    expect(heard(agent)).toBe('A A A')
    expect(agent.inbox.nextStep.filter(isReminder)).toHaveLength(1)
    watch.assertNone()
    watch.assertNone()
  })

  it('a guard that comes and goes, and comes back', async () => {
    const { harness, ctx, agent, watch } = await watched(null)
    await play(harness, agent, 'A A A')
    const first = await ctx.plugin(reminder)
    await play(harness, agent, 'A A', 'P')
    await first.restart()
    await play(harness, agent, 'A A A', 'P')
    await first.dispose()
    await play(harness, agent, 'A A', 'P')
    await ctx.plugin(reminder, { thresholds: [2] })
    await play(harness, agent, 'A A', 'P')
    expect(heard(agent)).toBe('A A A A A A A A ! A A A A !')
    watch.assertNone()
  })

  it('a guard that is loaded twice, and the one that stays when the other goes', async () => {
    const { harness, ctx, agent, watch } = await watched()
    const second = await ctx.plugin(reminder, { thresholds: [2] })
    await play(harness, agent, 'A A A')
    await second.dispose()
    await play(harness, agent, 'A A', 'P')
    expect(heard(agent)).toBe('A A ! A ! A A !5')
    watch.assertNone()
    post(ctx, (decision) => ({ ...decision, additionalContexts: [forged()] }))
    await play(harness, agent, 'A', 'P')
    expect(said(watch)).toEqual(['"look" shows 1 reminders, the recount expects 0'])
  })

  it('a past that it has not seen, until that no longer matters', async () => {
    const harness = await createHarness({ plugins: [reminder], invariants: false })
    onTestFinished(() => harness.dispose())
    const { ctx } = harness
    for (const definition of tools(() => ctx)) ctx.tools.register(definition)
    const agent = harness.agent()
    await play(harness, agent, 'A A')
    const watch = await mountInvariants(ctx, OWN)
    await play(harness, agent, 'A A A', 'P')
    expect(heard(agent)).toBe('A A A ! A A !5')
    watch.assertNone()
    post(ctx, ({ additionalContexts: _taken, ...decision }) => decision, PREPEND)
    await play(harness, agent, 'A A A', 'P')
    watch.assertNone()
    await play(harness, agent, 'B B B', 'P')
    expect(said(watch)).toEqual(['"look" shows 0 reminders, the recount expects 1'])
  })

  it('a step that was under way when it was loaded', async () => {
    const harness = await createHarness({ plugins: [reminder], invariants: false })
    onTestFinished(() => harness.dispose())
    const [reached, more] = [gate(), gate()]
    const { ctx } = harness
    ctx.tools.register({
      name: 'look',
      description: '',
      parameters: {},
      execute: async () => {
        reached.open()
        await more.opened
        return 'seen'
      },
    })
    const agent = harness.agent()
    const said = play(harness, agent, 'AAA')
    await reached.opened
    const watch = await mountInvariants(ctx, OWN)
    more.open()
    await said
    expect(heard(agent)).toBe('A A A !')
    watch.assertNone()
  })

  it('calls that a listener keeps from the guard', async () => {
    const { harness, ctx, agent, watch } = await watched()
    let hides = true
    ctx.on(
      'tools/post-execute',
      (_exec, _result, next) => (hides ? Promise.resolve({ kind: 'block', feedback: [text('no')] }) : next()),
      PREPEND,
    )
    await play(harness, agent, 'A A A')
    hides = false
    await play(harness, agent, 'A A A', 'P')
    expect(heard(agent)).toBe('A A A A A A !')
    watch.assertNone()
  })

  it('messages of the user that a listener keeps from the guard', async () => {
    const { harness, ctx, agent, watch } = await watched()
    ctx.on('agent/pre-step', ({ messages }) => Promise.resolve({ kind: 'enter', messages }), PREPEND)
    await play(harness, agent, 'A A U A')
    expect(heard(agent)).toBe('A A A !')
    watch.assertNone()
    // Calls unlike those before it are judged again.
    post(ctx, ({ additionalContexts: _taken, ...decision }) => decision, PREPEND)
    await play(harness, agent, 'A B B B')
    expect(said(watch)).toEqual(['"look" shows 0 reminders, the recount expects 1'])
  })

  it('listeners outside of the guard that pass everything on, which it sees through', async () => {
    const { harness, ctx, agent, watch } = await watched()
    ctx.on('agent/pre-step', (_event, next) => next(), PREPEND)
    const removes = { is: false }
    post(
      ctx,
      ({ additionalContexts, ...decision }) => ({ ...decision, ...(!removes.is && additionalContexts && { additionalContexts }) }),
      PREPEND,
    )
    await play(harness, agent, 'A A U A A A')
    expect(heard(agent)).toBe('A A A A A !')
    watch.assertNone()
    removes.is = true
    await play(harness, agent, 'A A', 'P')
    expect(said(watch)).toEqual(['"look" shows 0 reminders, the recount expects 1'])
  })

  it.each([
    ['inside of the guard', undefined],
    ['outside of it, before it asks the guard', { prepend: true }],
  ])('a listener that fails %s', async (_where, options) => {
    const { harness, ctx, agent, watch } = await watched()
    let calls = 0
    ctx.on(
      'tools/post-execute',
      (_exec, _result, next) => {
        if (++calls === 2 || calls === 3) throw new Error('no review today')
        return next()
      },
      options,
    )
    await play(harness, agent, 'A A A A A A')
    expect(said(watch)).toEqual([])
  })

  it('a review that somebody vetoed', async () => {
    const { harness, ctx, agent, watch } = await watched()
    let calls = 0
    ctx.on('internal/dispatch', (_mode, event) => {
      if (event === 'tools/post-execute' && ++calls === 2) throw new Error('not now')
    })
    await play(harness, agent, 'A A A A')
    expect(heard(agent)).toBe('A A A A !')
    watch.assertNone()
  })

  it.each([
    ['before it was', { prepend: true }],
    ['after it', {}],
  ])('a reminder of a result that nobody is let hear %s', async (_when, options) => {
    const { harness, ctx, agent, watch } = await watched({ thresholds: [2] })
    const veto = (_mode: unknown, event: string): void => {
      if (event === 'tools/result') throw new Error('not now')
    }
    ctx.on('internal/dispatch', veto, options)
    await play(harness, agent, 'A A')
    expect(heard(agent)).toBe('A A !')
    watch.assertNone()
  })

  it('calls whose review somebody refuses, and whose result nobody is let hear', async () => {
    const { harness, ctx, agent, watch } = await watched({ thresholds: [2] })
    const first = new Set<string>()
    ctx.on('internal/dispatch', (_mode, event) => {
      if (!['tools/post-execute', 'tools/result'].includes(event) || first.has(event)) return
      first.add(event)
      throw new Error('not now')
    })
    await play(harness, agent, 'A A A')
    expect(heard(agent)).toBe('A A A !')
    watch.assertNone()
  })

  describe('what somebody holds up outside of the guard, and something else overtakes:', () => {
    const holding = async () => {
      const harness = await createHarness({ invariants: false })
      onTestFinished(() => harness.dispose())
      const { ctx } = harness
      const inner = gate()
      // Between the guard and the companion.
      ctx.on('agent/pre-step', async ({ turn }, next) => (turn === 7 && (await inner.opened), next()))
      const watch = await mountInvariants(ctx, OWN)
      await ctx.plugin(reminder, { thresholds: [2] })
      const outer = gate()
      const holds = { left: 1 }
      const hold = (name: string): boolean => name === 'held' && holds.left-- > 0
      ctx.on('tools/post-execute', async ({ name }, _result, next) => (hold(name) && (await outer.opened), next()), PREPEND)
      ctx.on('agent/pre-step', (_event, next) => next(), PREPEND)
      const agent = harness.agent()
      const call = async (name: string): Promise<number> => {
        const { additionalContexts = [] } = await execute(ctx, { name, arguments: {} }, { agent })
        return additionalContexts.filter(isReminder).length
      }
      const user = (turn: number) => preStep(ctx, { agent, turn, messages: [{ source: { kind: 'user' } }] })
      return { call, user, watch, inner, outer, holds }
    }

    it('another call', async () => {
      const { call, watch, outer } = await holding()
      const held = call('held')
      await call('look')
      outer.open()
      await held
      expect(await call('held')).toBe(1)
      watch.assertNone()
    })

    it('one that is the same, and the first that the guard sees', async () => {
      const { call, watch, outer } = await holding()
      const held = call('held')
      expect(await call('held')).toBe(0)
      outer.open()
      expect(await held).toBe(1)
      watch.assertNone()
    })

    it('a call while another is held up too', async () => {
      const { call, watch, outer, holds } = await holding()
      holds.left = 2
      const held = [call('held'), call('held')]
      await call('look')
      outer.open()
      await Promise.all(held)
      expect(await call('held')).toBe(0)
      watch.assertNone()
    })

    it('a message of the user', async () => {
      const { call, user, watch, outer } = await holding()
      const held = call('held')
      await user(1)
      outer.open()
      await held
      expect(await call('held')).toBe(1)
      watch.assertNone()
    })

    it('a call that a message of the user has let pass', async () => {
      const { call, user, watch, inner } = await holding()
      const said = user(7)
      await call('look')
      inner.open()
      await said
      expect(await call('look')).toBe(1)
      watch.assertNone()
    })
  })

  it('a guard of one agent alone', async () => {
    const { harness, agent, watch } = await watched(null)
    const other = harness.agent()
    await agent.ctx.plugin(reminder)
    await play(harness, other, 'A A A')
    await play(harness, agent, 'A A A')
    expect([heard(other), heard(agent)]).toEqual(['A A A', 'A A A !'])
    watch.assertNone()
  })

  it('calls that a plugin makes for an agent, or for none', async () => {
    const { harness, ctx, agent, watch } = await watched()
    await play(harness, agent, 'A A')
    const direct = await execute(ctx, CALLS.A, { agent })
    expect(direct.additionalContexts?.filter(isReminder)).toHaveLength(1)
    for (let count = 0; count < 4; count++) await execute(ctx, CALLS.A)
    await play(harness, agent, 'A A', 'P')
    expect(heard(agent)).toBe('A A A A !5')
    watch.assertNone()
  })

  it('a call of the loop that a plugin makes again under the same id', async () => {
    const { harness, ctx, agent, watch } = await watched()
    ctx.on('tools/result', (exec) => {
      if (exec.agent === undefined || exec.callId.startsWith('again')) return
      const { name, arguments: args, callId, signal } = exec
      if (args !== undefined && !again.has(callId)) {
        again.add(callId)
        void ctx.tools.execute({ callId, name, arguments: args, signal, agent })
      }
    })
    const again = new Set<CallId>()
    await play(harness, agent, 'A A')
    expect(said(watch)).toEqual([])
  })

  it('what somebody who makes each call of the loop first, under the same id, is shown', async () => {
    const { harness, ctx, agent, watch } = await watched()
    doubling(ctx, 'A')
    await play(harness, agent, 'A A A')
    // It shows the reminder at the third call to a plugin that keeps it.
    expect(heard(agent)).toBe('A A A')
    watch.assertNone()
  })

  it('calls to which the model gave one id', async () => {
    const { harness, agent, watch } = await watched({ thresholds: [2, 3] })
    const twins = { calls: [CALLS.A, CALLS.A, CALLS.A].map((call) => ({ ...call, id: 'twin' })) }
    harness.model.push(twins, { text: 'done' })
    await harness.say(agent, 'go')
    expect(heard(agent)).toBe('A A A ! !3')
    watch.assertNone()
  })

  it('a plugin of the same name that has other rules', async () => {
    const { harness, ctx, agent, watch } = await watched(null)
    await ctx.plugin({
      name: 'repeat-tool-reminder',
      apply: (own: Context) => {
        post(own, (decision) => ({ ...decision, additionalContexts: [forged()] }))
        own.on('agent/pre-step', (_event, next) => next())
      },
    })
    await play(harness, agent, 'A U A')
    expect(heard(agent)).toBe('A ! A !')
    watch.assertNone()
  })

  it('arguments that are no JSON, of which it cannot say whether they are the same', async () => {
    const { ctx, agent, watch } = await watched({ thresholds: [2] })
    const foreign = foreignHost(ctx, agent)
    for (const args of [new Date(0), 1n, [new Date(0)], { at: new Date(0) }]) {
      await foreign(args)
      await foreign(args, false)
    }
    // The guard knows better: an object of another realm is as good as one of ours.
    await foreign(runInNewContext('({ at: 1 })'))
    await foreign({ at: 1 })
    // Only those after it count again, once it is known that they are others.
    await foreign([1])
    await foreign([1])
    watch.assertNone()
    await foreign([1, 1])
    await foreign([1, 1], false)
    expect(said(watch)).toEqual(['"look" shows 0 reminders, the recount expects 1'])
  })

  it('arguments that are too deep or too many for it, and calls after them', async () => {
    const { ctx, agent, watch } = await watched()
    let deep: unknown = 1
    for (let level = 0; level < 5_000; level++) deep = [deep]
    const wide = Array.from({ length: 200_000 }, () => 1)
    for (const args of [deep, wide]) {
      const call = { name: 'look', arguments: args }
      for (let count = 0; count < 3; count++) await execute(ctx, call, { agent })
      for (let count = 0; count < 3; count++) await execute(ctx, CALLS.A, { agent })
    }
    expect(said(watch)).toEqual([])
  })

  it('an agent that is cancelled and disposed of while a batch runs, and one that is resumed under its name', async () => {
    const { harness, ctx, agent, watch } = await watched({ thresholds: [2] })
    const reached = gate()
    ctx.tools.register({
      name: 'waits',
      description: '',
      parameters: {},
      execute: (_args, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
          reached.open()
        }),
    })
    const wait = { name: 'waits', arguments: {} }
    harness.model.push({ calls: [CALLS.A, CALLS.A, wait, CALLS.A] })
    const said = harness.say(agent, 'go')
    await reached.opened
    await agent.dispose()
    await said
    expect(heard(agent)).toBe('A A ? A !')
    const again = harness.ctx.agentLoop.create(SessionId(agent.id), agent.options)
    await play(harness, again, 'A A')
    expect(heard(again)).toBe('A A !')
    watch.assertNone()
  })

  it('events of the same names with something else in them, which it lets pass', async () => {
    const { ctx, watch } = await watched()
    for (const event of ['tools/post-execute', 'tools/result', 'agent/pre-step']) {
      for (const args of [[], [undefined, {}], ['x', 'y'], [{}, null], [{}]]) {
        const listeners = ctx.events.dispatch('emit', [event, ...args])
        expect(listeners.length).toBe(event === 'tools/result' ? 1 : 2)
      }
    }
    watch.assertNone()
  })

  it('what it sees once it is unloaded', async () => {
    const { harness, ctx, agent, watch } = await watched()
    await ctx.invariants
      .registrations()
      .find(({ packageName }) => packageName === NAME)
      ?.fiber?.dispose()
    post(ctx, (decision) => ({ ...decision, additionalContexts: [forged()] }))
    await play(harness, agent, 'A')
    expect(watch.violations).toEqual([])
  })
})
