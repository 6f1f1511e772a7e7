import { runInNewContext } from 'node:vm'
import type { Context } from '@deepseek-ai/cordis'
import { type CallId, SessionId, text } from '@loopguard/llm'
import * as reminder from '@loopguard/repeat-tool-reminder'
import { createHarness, gate, mountInvariants } from '@loopguard/testkit'
import type { PostToolDecision } from '@loopguard/tools'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CALLS, execute, heard, isReminder, play, tools } from './stage.ts'
import { doubling, foreignHost, forged, NAME, OWN, post, PREPEND, refuseReminders, said, userSpeaks, watched } from './watched.ts'

/** A fault behind which the companion must be heard again: a reminder that is not due. */
const forge = (ctx: Context) => post(ctx, (decision) => ({ ...decision, additionalContexts: [forged()] }))
const FORGED = ['"look" shows 1 reminders, the recount expects 0']

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

  it('reminders that a host hands to the inbox instead of the log', async () => {
    const { harness, ctx, agent, watch } = await watched()
    refuseReminders(ctx)
    ctx.on('tools/result', (_exec, { additionalContexts = [] }) => additionalContexts.forEach((context) => agent.inject(context)))
    await play(harness, agent, 'A A A')
    expect(agent.inbox.nextStep.filter(isReminder)).toHaveLength(1)
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

  it('calls that a stranger outside of the guard may have kept from it, and the guard counted', async () => {
    const { harness, ctx, agent, watch } = await watched()
    await play(harness, agent, 'A')
    const leave = ctx.on('tools/post-execute', (_exec, _result, next) => next(), { prepend: true })
    await play(harness, agent, 'A', 'P')
    leave()
    await play(harness, agent, 'A', 'P')
    expect(heard(agent)).toBe('A A A !')
    watch.assertNone()
  })

  it('a guard that is loaded twice, until one is left and the user has spoken', async () => {
    const { harness, ctx, agent, watch } = await watched()
    const second = await ctx.plugin(reminder, { thresholds: [2] })
    await play(harness, agent, 'A A A')
    await second.dispose()
    await play(harness, agent, 'A A', 'P')
    expect(heard(agent)).toBe('A A ! A ! A A !5')
    watch.assertNone()
    forge(ctx)
    await play(harness, agent, 'A')
    expect(said(watch)).toEqual(FORGED)
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
    forge(ctx)
    await play(harness, agent, 'A', 'P')
    watch.assertNone()
    await play(harness, agent, 'B', 'P')
    expect(said(watch)).toEqual(FORGED)
  })

  it('a step that was under way when it was loaded', async () => {
    const harness = await createHarness({ plugins: [reminder], invariants: false })
    onTestFinished(() => harness.dispose())
    const [reached, more] = [gate(), gate()]
    const { ctx } = harness
    const wait = async () => {
      reached.open()
      await more.opened
      return 'seen'
    }
    ctx.tools.register({ name: 'look', description: '', parameters: {}, execute: wait })
    const agent = harness.agent()
    const done = play(harness, agent, 'AAA')
    await reached.opened
    const watch = await mountInvariants(ctx, OWN)
    more.open()
    await done
    expect(heard(agent)).toBe('A A A !')
    watch.assertNone()
  })

  describe('what passes a listener of another plugin outside of the guard:', () => {
    it.each<[string, (next: () => Promise<PostToolDecision>) => Promise<PostToolDecision>]>([
      ['it keeps calls', async () => ({ kind: 'accept' })],
      ['it takes reminders away', async (next) => (await next(), { kind: 'accept' })],
      ['it adds some', async (next) => ({ ...(await next()), additionalContexts: [forged()] })],
      ['it asks twice', async (next) => (await next(), next())],
      ['it blocks', async (next) => (await next(), { kind: 'block', feedback: [text('no')] })],
      ['it fails', () => Promise.reject(new Error('no review today'))],
      ['it passes everything on', (next) => next()],
    ])('%s; once it is gone and the user has spoken, it is heard again', async (_title, review) => {
      const { harness, ctx, agent, watch } = await watched({ thresholds: [2] })
      const off = ctx.on('tools/post-execute', (_exec, _result, next) => review(next), PREPEND)
      await play(harness, agent, 'A A A C C')
      off()
      await play(harness, agent, 'A A', 'P')
      watch.assertNone()
      forge(ctx)
      await play(harness, agent, 'A')
      expect(said(watch)).toEqual(FORGED)
    })

    it('a message of the user', async () => {
      const { harness, ctx, agent, watch } = await watched()
      const off = ctx.on('agent/pre-step', ({ messages }) => Promise.resolve({ kind: 'enter', messages }), PREPEND)
      await play(harness, agent, 'A A U A')
      expect(heard(agent)).toBe('A A A !')
      off()
      await play(harness, agent, 'A A', 'P')
      watch.assertNone()
      forge(ctx)
      await play(harness, agent, 'B', 'P')
      expect(said(watch)).toEqual(FORGED)
    })

    it('a listener of another agent, which does not hear them, is no reason', async () => {
      const { harness, ctx, agent, watch } = await watched()
      harness.agent().ctx.on('tools/post-execute', async () => ({ kind: 'accept' }), PREPEND)
      forge(ctx)
      await play(harness, agent, 'A')
      expect(said(watch)).toEqual(FORGED)
    })

    it.each(['repeated-failure-reminder', 'timeout-policy'])('a listener of %s is no reason', async (name) => {
      const { harness, ctx, agent, watch } = await watched()
      await ctx.plugin({ name, apply: (own: Context) => void own.on('tools/post-execute', (_exec, _result, next) => next(), PREPEND) })
      forge(ctx)
      await play(harness, agent, 'A')
      expect(said(watch)).toEqual(FORGED)
    })
  })

  it('a listener that fails inside of the guard', async () => {
    const { harness, ctx, agent, watch } = await watched()
    let calls = 0
    ctx.on('tools/post-execute', (_exec, _result, next) => {
      if (++calls === 2 || calls === 3) throw new Error('no review today')
      return next()
    })
    await play(harness, agent, 'A A A A A A')
    expect(said(watch)).toEqual([])
  })

  it.each(['tools/post-execute', 'tools/result'])('a call of which somebody vetoes %s', async (vetoed) => {
    const { harness, ctx, agent, watch } = await watched({ thresholds: [2] })
    let calls = 0
    ctx.on('internal/dispatch', (_mode, event) => {
      if (event === vetoed && ++calls === 2) throw new Error('not now')
    })
    await play(harness, agent, 'A A A')
    expect(heard(agent)).toBe(vetoed === 'tools/result' ? 'A A ! A' : 'A A A !')
    watch.assertNone()
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

  it('a call of the loop that a plugin makes again, or first, under its id', async () => {
    const { harness, ctx, agent, watch } = await watched()
    const again = new Set<CallId>()
    const off = ctx.on('tools/result', ({ agent: caller, name, arguments: args, callId, signal }) => {
      if (caller === undefined || again.has(callId)) return
      again.add(callId)
      void ctx.tools.execute({ callId, name, arguments: args, signal, agent })
    })
    await play(harness, agent, 'A A')
    off()
    doubling(ctx)
    await play(harness, agent, 'A A A')
    expect(said(watch)).toEqual([])
  })

  it('calls to which the model gave one id', async () => {
    const { harness, agent, watch } = await watched({ thresholds: [2, 3] })
    harness.model.push({ calls: [CALLS.A, CALLS.A, CALLS.A].map((call) => ({ ...call, id: 'twin' })) }, { text: 'done' })
    await harness.say(agent, 'go')
    expect(heard(agent)).toBe('A A A ! !3')
    watch.assertNone()
  })

  it('a plugin of the same name that has other rules', async () => {
    const { harness, ctx, agent, watch } = await watched(null)
    await ctx.plugin({ name: 'repeat-tool-reminder', apply: (own: Context) => void forge(own) })
    await play(harness, agent, 'A U A')
    expect(heard(agent)).toBe('A ! A !')
    watch.assertNone()
  })

  it('arguments of which it cannot say whether they are the same, and those after them', async () => {
    const { ctx, agent, watch } = await watched({ thresholds: [2] })
    const foreign = foreignHost(ctx, agent)
    await userSpeaks(ctx, agent)
    let deep: unknown = 1
    for (let level = 0; level < 20_000; level++) deep = [deep]
    for (const args of [new Date(0), 1n, [new Date(0)], deep]) {
      await foreign(args)
      await foreign(args, false)
    }
    // The guard knows better: an object of another realm is as good as one of ours.
    await foreign(runInNewContext('({ at: 1 })'))
    await foreign({ at: 1 })
    watch.assertNone()
    await foreign([1])
    await foreign([1], false)
    expect(said(watch)).toEqual(['"look" shows 0 reminders, the recount expects 1'])
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
    harness.model.push({ calls: [CALLS.A, CALLS.A, { name: 'waits', arguments: {} }, CALLS.A] })
    const going = harness.say(agent, 'go')
    await reached.opened
    await agent.dispose()
    await going
    expect(heard(agent)).toBe('A A ? A !')
    const again = harness.ctx.agentLoop.create(SessionId(agent.id), agent.options)
    await play(harness, again, 'A A')
    expect(heard(again)).toBe('A A !')
    watch.assertNone()
  })

  it('events of the same names with something else in them, which it lets pass', async () => {
    const { ctx, watch } = await watched()
    for (const event of ['tools/post-execute', 'tools/result', 'agent/pre-step']) {
      for (const args of [[], [undefined, {}], ['x', 'y'], [{}, null], [{}], [{ agent: {}, messages: [null, {}] }]]) {
        const listeners = ctx.events.dispatch('emit', [event, ...args])
        expect(listeners).toHaveLength(1)
        // To the others the guard listens, not the companion.
        if (event === 'tools/result') for (const listener of listeners) listener(...args)
      }
    }
    watch.assertNone()
  })

  it('what it sees once it is unloaded', async () => {
    const { harness, ctx, agent, watch } = await watched()
    const registration = ctx.invariants.registrations().find(({ packageName }) => packageName === NAME)
    await registration?.fiber?.dispose()
    forge(ctx)
    await play(harness, agent, 'A')
    expect(watch.violations).toEqual([])
  })
})
