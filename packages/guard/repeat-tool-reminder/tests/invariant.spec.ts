import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@loopguard/agent-loop'
import * as reminder from '@loopguard/repeat-tool-reminder'
import type { Harness } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'
import { type Call, play } from './stage.ts'
import { foreignHost, forged, post, PREPEND, refuseReminders, said, userSpeaks, watched } from './watched.ts'

/** A guard that has the name and the configuration of the real one, and a fault. */
async function faultyGuard(
  ctx: Context,
  fault: (count: number, call: Call, agent: object) => boolean,
  config: reminder.Config = {},
): Promise<void> {
  await ctx.plugin(
    {
      name: 'repeat-tool-reminder',
      Config: reminder.Config,
      apply(own: Context) {
        const counts = new Map<object, Map<string, number>>()
        own.on('agent/pre-step', ({ agent, messages }, next) => {
          if (messages.some(({ source }) => source.kind === 'user')) counts.delete(agent)
          return next()
        })
        own.on(
          'tools/post-execute',
          async ({ agent, name, arguments: args }, _result, next) => {
            const decision = await next()
            if (agent === undefined) return decision
            const key = JSON.stringify([name, args])
            const count = (counts.get(agent)?.get(key) ?? 0) + 1
            counts.set(agent, new Map([[key, count]]))
            if (!fault(count, { name, arguments: args }, agent)) return decision
            return { ...decision, additionalContexts: [forged(), ...(decision.additionalContexts ?? [])] }
          },
          PREPEND,
        )
      },
    },
    { exclude: ['note_*'], ...config } as never,
  )
}

/** A tool whose results are these. */
function poll(ctx: Context, ...results: string[]): void {
  ctx.tools.register({ name: 'poll', description: '', parameters: {}, execute: () => results.shift() ?? '' })
}

/** The model calls it so often. */
async function polls(harness: Harness, agent: Agent, calls: number): Promise<void> {
  harness.model.push(...Array.from({ length: calls }, () => ({ calls: [{ name: 'poll', arguments: {} }] })), { text: 'done' })
  await harness.say(agent, 'go')
}

const due = (count: number): boolean => [3, 5, 8].includes(count)

describe('the reminders of a call are those of a recount', () => {
  it('trips when a listener adds a reminder that is not due', async () => {
    const { harness, ctx, agent, watch } = await watched()
    post(ctx, (decision) => ({ ...decision, additionalContexts: [forged()] }))
    await play(harness, agent, 'A')
    expect(said(watch)).toEqual(['"look" shows 1 reminders, the recount expects 0'])
  })

  it('trips when a listener adds a second reminder to one that is due', async () => {
    const { harness, ctx, agent, watch } = await watched()
    let calls = 0
    post(ctx, (decision) => (++calls === 3 ? { ...decision, additionalContexts: [forged()] } : decision))
    await play(harness, agent, 'A A A')
    expect(said(watch)).toEqual(['"look" shows 2 reminders, the recount expects 1'])
  })

  it('trips when the guard does not remind though it is due', async () => {
    const { harness, ctx, agent, watch } = await watched(null)
    await faultyGuard(ctx, () => false)
    await play(harness, agent, 'A A A')
    expect(said(watch)).toEqual(['"look" shows 0 reminders, the recount expects 1'])
  })

  it('trips when the guard reminds one call late', async () => {
    const { harness, ctx, agent, watch } = await watched(null)
    await faultyGuard(ctx, (count) => due(count - 1))
    await play(harness, agent, 'A A A A')
    expect(said(watch)).toEqual(['"look" shows 0 reminders, the recount expects 1', '"look" shows 1 reminders, the recount expects 0'])
  })

  it('trips when the guard falls silent after its first threshold', async () => {
    const { harness, ctx, agent, watch } = await watched(null)
    await faultyGuard(ctx, (count) => count === 3)
    await play(harness, agent, 'A A A A A')
    expect(said(watch)).toEqual(['"look" shows 0 reminders, the recount expects 1'])
  })

  it('trips when the guard counts what it is told to leave out', async () => {
    const { harness, ctx, agent, watch } = await watched(null)
    await faultyGuard(ctx, due)
    await play(harness, agent, 'X X X')
    expect(said(watch)).toEqual(['"note_down" shows 1 reminders, the recount expects 0'])
  })

  it('trips when a call that is left out ends a run', async () => {
    const { harness, ctx, agent, watch } = await watched(null)
    await faultyGuard(ctx, due)
    await play(harness, agent, 'A A X A')
    expect(said(watch)).toEqual(['"look" shows 0 reminders, the recount expects 1'])
  })

  it('trips when the guard counts the calls inside of a call', async () => {
    const { harness, ctx, agent, watch } = await watched(null)
    await faultyGuard(ctx, due)
    await play(harness, agent, 'O O O')
    expect(said(watch)).toEqual(['"outer" shows 0 reminders, the recount expects 1'])
  })

  it('trips when the guard counts the calls of all agents together', async () => {
    const { harness, ctx, agent, watch } = await watched(null)
    let all = 0
    await faultyGuard(ctx, () => due(++all))
    await play(harness, agent, 'A A')
    await play(harness, harness.agent(), 'A')
    expect(said(watch)).toEqual(['"look" shows 1 reminders, the recount expects 0'])
  })

  it('trips when the guard does not start afresh with a message of the user', async () => {
    const { harness, ctx, agent, watch } = await watched(null)
    let all = 0
    await faultyGuard(ctx, () => due(++all))
    await play(harness, agent, 'A A U A')
    expect(said(watch)).toEqual(['"look" shows 1 reminders, the recount expects 0'])
  })

  it('trips when the guard starts afresh with a message of a plugin', async () => {
    const { harness, ctx, agent, watch } = await watched(null)
    let since = 0
    await faultyGuard(ctx, () => due(++since))
    ctx.on('agent/pre-step', ({ messages }, next) => {
      if (messages.length > 0) since = 0
      return next()
    })
    await play(harness, agent, 'A A P A')
    expect(said(watch)).toEqual(['"look" shows 0 reminders, the recount expects 1'])
  })

  it('trips when the guard reminds after a call that ends the turn', async () => {
    const { harness, ctx, agent, watch } = await watched(null)
    let all = 0
    await faultyGuard(ctx, () => ++all === 3)
    await play(harness, agent, 'C P C P C')
    expect(said(watch)).toEqual(['"conclude" shows 1 reminders, the recount expects 0'])
  })
})

describe('under `unchanged` a result that changed starts the run', () => {
  const unchanged = { results: 'unchanged' } as const

  it('trips when the guard counts on though the result is another', async () => {
    const { harness, ctx, agent, watch } = await watched(null)
    poll(ctx, 'waiting', 'waiting', 'ready')
    await faultyGuard(ctx, due, unchanged)
    await polls(harness, agent, 3)
    expect(said(watch)).toEqual(['"poll" shows 1 reminders, the recount expects 0'])
  })

  it('trips when the guard starts the run though the result is the same', async () => {
    const { harness, ctx, agent, watch } = await watched(null)
    poll(ctx, 'waiting', 'waiting', 'waiting')
    await faultyGuard(ctx, () => false, unchanged)
    await polls(harness, agent, 3)
    expect(said(watch)).toEqual(['"poll" shows 0 reminders, the recount expects 1'])
  })

  it('trips when the guard compares results that it is told not to', async () => {
    const { harness, ctx, agent, watch } = await watched(null)
    poll(ctx, 'waiting', 'waiting', 'ready')
    await faultyGuard(ctx, () => false)
    await polls(harness, agent, 3)
    expect(said(watch)).toEqual(['"poll" shows 0 reminders, the recount expects 1'])
  })

  it('nothing is said of results that differ in what may be masked, until one certainly differs', async () => {
    const { harness, ctx, agent, watch } = await watched(unchanged)
    poll(ctx, 'in 0.5s', 'in 0.7s', 'in 9s', 'ready', 'ready', 'ready')
    post(ctx, (decision, call) => (call.endsWith('3') ? { ...decision, additionalContexts: [forged()] } : decision))
    await polls(harness, agent, 6)
    expect(said(watch)).toEqual([])
  })
})

describe('the recount', () => {
  it('speaks once, however often a result is shown', async () => {
    const { harness, ctx, agent, watch } = await watched()
    post(ctx, (decision) => ({ ...decision, additionalContexts: [forged()] }))
    let shown = 0
    ctx.on('tools/result', (exec, result) => void (++shown === 1 && ctx.emit('tools/result', exec, result)))
    await play(harness, agent, 'A')
    expect(shown).toBe(2)
    expect(said(watch)).toEqual(['"look" shows 1 reminders, the recount expects 0'])
  })

  it('goes by what a host shows, if that has no token', async () => {
    const { ctx, agent, watch } = await watched({ thresholds: [2] })
    const foreign = foreignHost(ctx, agent)
    await userSpeaks(ctx, agent)
    for (const args of [{ at: 'a' }, { at: 'a' }, [], Array(1), { a: 1, b: [2] }, { b: [2], a: 1 }]) await foreign(args)
    watch.assertNone()
    await foreign({ at: 'a' })
    await Promise.all([foreign({ at: 'a' }, false), foreign({ at: 'b' })])
    expect(said(watch)).toEqual(['"look" shows 0 reminders, the recount expects 1'])
  })

  it('does not see a message of the user that the guard does not listen for', async () => {
    const { harness, ctx, agent, watch } = await watched(null)
    await ctx.plugin(
      {
        name: 'repeat-tool-reminder',
        Config: reminder.Config,
        apply(own: Context) {
          let all = 0
          post(own, (decision) => (due(++all) ? { ...decision, additionalContexts: [forged()] } : decision))
        },
      },
      {} as never,
    )
    await play(harness, agent, 'A A U A')
    expect(said(watch)).toEqual(['"look" shows 1 reminders, the recount expects 0'])
  })
})

describe('each reminder stands in the log, after the last result of its step', () => {
  it('trips when a plugin logs a reminder before the last result', async () => {
    const { harness, ctx, agent, watch } = await watched()
    ctx.on('session/event', (session, { type }) => {
      if (type === 'tool/call') session.append('user/message', forged())
    })
    await play(harness, agent, 'AB')
    const verdict = expect.stringMatching(/^"agent-1": a reminder \(event \d+\) stands before the last result of its step$/)
    expect(said(watch)).toEqual([verdict, verdict])
  })

  it('trips when a plugin logs a reminder of its own', async () => {
    const { harness, ctx, agent, watch } = await watched()
    ctx.on('session/event', (session, { type }) => {
      if (type === 'tool/result') session.append('user/message', forged())
    })
    await play(harness, agent, 'A')
    expect(said(watch)).toEqual([expect.stringMatching(/^"agent-1": a reminder \(event \d+\) that no result of its step showed$/)])
  })

  it('trips when a reminder that a result showed is kept out of the log', async () => {
    const { harness, ctx, agent, watch } = await watched()
    refuseReminders(ctx)
    await play(harness, agent, 'A A A')
    expect(said(watch)).toEqual(['"agent-1": the step ends without 1 of the reminders that its results showed'])
  })
})
