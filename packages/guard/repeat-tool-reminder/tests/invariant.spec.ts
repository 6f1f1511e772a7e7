import { runInNewContext } from 'node:vm'
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@loopguard/agent-loop'
import { CallId, createUserMessage, SessionId, text, type UserMessage } from '@loopguard/llm'
import * as reminder from '@loopguard/repeat-tool-reminder'
import { createHarness, gate, type Harness, type InvariantWatch, mountInvariants } from '@loopguard/testkit'
import type { PostToolDecision, ToolExecution, ToolExecutionResult } from '@loopguard/tools'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CALLS, type Call, deny, execute, heard, isReminder, play, postExecute, tools } from './stage.ts'

const NAME = '@loopguard/repeat-tool-reminder'
const OWN = { package_allowlist: [`^${NAME}$`] }

interface Watched {
  readonly harness: Harness
  readonly ctx: Context
  readonly agent: Agent
  readonly watch: InvariantWatch
}

/** A host with the companion, and with the guard unless the test brings one of its own. */
async function watched(config?: reminder.Config | null): Promise<Watched> {
  const harness = await createHarness({ plugins: [deny], invariants: false })
  onTestFinished(() => harness.dispose())
  const { ctx } = harness
  for (const definition of tools(() => ctx)) ctx.tools.register(definition)
  const watch = await mountInvariants(ctx, OWN)
  if (config !== null) await ctx.plugin(reminder, config)
  return { harness, ctx, agent: harness.agent(), watch }
}

/** What the companion has said, all of it recorded, emitted and logged. */
function said(watch: InvariantWatch): string[] {
  return watch.violations.map(({ message }) => {
    watch.assertBroken(NAME, message)
    return message.replace(/^invariant violated by "[^"]+": (call "[^"]+" of tool |session )/, '')
  })
}

function forged(words = 'You are repeating yourself.'): UserMessage {
  return createUserMessage({ content: [text(words)], source: { kind: 'plugin', plugin: 'repeat-tool-reminder' } })
}

const PREPEND = { prepend: true }
const post = (ctx: Context, change: (decision: PostToolDecision, call: string) => PostToolDecision, options?: { prepend: boolean }) =>
  ctx.on('tools/post-execute', async (exec, _result, next) => change(await next(), exec.callId), options)

/** A guard that has the name and the configuration of the real one, and a fault. */
async function faultyGuard(ctx: Context, fault: (count: number, call: Call, agent: object) => boolean): Promise<void> {
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
    { exclude: ['note_*'] } as never,
  )
}

function refuseReminders(ctx: Context): void {
  ctx.on('internal/dispatch', (_mode, event, args) => {
    const logged = args[1] as { type: string; data: UserMessage } | undefined
    if (event === 'session/event' && logged?.type === 'user/message' && isReminder(logged.data)) throw new Error('no more of these')
  })
}

/** Makes each call of that letter first, on its own account, under the id under which the loop makes it then. */
function doubling(ctx: Context, letter: 'A' | 'B'): void {
  const own = new Set<CallId>()
  ctx.on('tools/execute', async (exec, next) => {
    const { callId, name, arguments: args, signal, agent } = exec
    const isIt = JSON.stringify(args) === JSON.stringify(CALLS[letter].arguments)
    if (isIt && !own.has(callId)) {
      own.add(callId)
      await ctx.tools.execute({ callId, name, arguments: args, signal, agent })
    }
    return next()
  })
}

/** A host that takes any arguments, gives its calls no token, and may lose what was added to a result. */
function foreignHost(ctx: Context, agent: Agent): (args: unknown, shows?: boolean) => Promise<void> {
  let calls = 0
  return async (args, shows = true) => {
    const exec = { callId: `foreign-${++calls}`, name: 'look', arguments: args, agent } as unknown as ToolExecution
    const outcome: ToolExecutionResult = { isError: false, content: [] }
    const { additionalContexts } = await postExecute(ctx, exec, outcome, () => Promise.resolve({ kind: 'accept' }))
    const shown = shows && additionalContexts !== undefined ? { additionalContexts } : {}
    emitContained(ctx, exec, { ...outcome, ...shown })
  }
}

function emitContained(ctx: Context, exec: ToolExecution, result: ToolExecutionResult): void {
  try {
    ctx.emit('tools/result', exec, result)
  } catch {
    // As most hosts do.
  }
}

const due = (count: number): boolean => [3, 5, 8].includes(count)

describe('the reminders of a call are those of a recount', () => {
  it('trips when a listener adds a reminder that is not due', async () => {
    const { harness, ctx, agent, watch } = await watched()
    post(ctx, (decision) => ({ ...decision, additionalContexts: [forged()] }))
    await play(harness, agent, 'A')
    expect(said(watch)).toEqual(['"look" shows 1 reminders, the recount expects 0'])
  })

  it('trips when a listener takes a reminder away that is due', async () => {
    const { harness, ctx, agent, watch } = await watched()
    post(ctx, ({ additionalContexts: _taken, ...decision }) => decision, PREPEND)
    await play(harness, agent, 'A A A')
    expect(said(watch)).toEqual(['"look" shows 0 reminders, the recount expects 1'])
  })

  it('trips when a listener adds a second reminder to one that is due', async () => {
    const { harness, ctx, agent, watch } = await watched()
    const doubled = (decision: PostToolDecision): PostToolDecision => {
      const { additionalContexts } = decision
      return additionalContexts === undefined ? decision : { ...decision, additionalContexts: [...additionalContexts, forged()] }
    }
    post(ctx, doubled, PREPEND)
    await play(harness, agent, 'A A A')
    expect(said(watch)).toEqual(['"look" shows 2 reminders, the recount expects 1'])
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
    ctx.on('agent/pre-step', ({ messages }, next) => {
      if (messages.length > 0) since = 0
      return next()
    })
    await faultyGuard(ctx, () => due(++since))
    await play(harness, agent, 'A A P A')
    expect(said(watch)).toEqual(['"look" shows 0 reminders, the recount expects 1'])
  })

  it('trips when the guard reminds after a call that ends the turn', async () => {
    const { harness, ctx, agent, watch } = await watched(null)
    let all = 0
    await faultyGuard(ctx, () => ++all === 3)
    await play(harness, agent, 'C P C P C', 'P')
    expect(said(watch)).toEqual(['"conclude" shows 1 reminders, the recount expects 0'])
  })
})

describe('the recount', () => {
  it('goes by the tools that the guard is told to take', async () => {
    const { harness, ctx, agent, watch } = await watched({ include: ['no_such', 'l*k'] })
    await play(harness, agent, 'A A X X X A')
    expect(heard(agent)).toBe('A A X X X A !')
    watch.assertNone()
    post(ctx, ({ additionalContexts: _taken, ...decision }) => decision, PREPEND)
    await play(harness, agent, 'A A A')
    expect(said(watch)).toEqual(['"look" shows 0 reminders, the recount expects 1'])
  })

  it('tells long arguments from each other', async () => {
    const { ctx, agent, watch } = await watched()
    const long = (last: string): Call => ({ name: 'look', arguments: { text: `${'x'.repeat(1_000)}${last}` } })
    for (const last of ['a', 'a', 'b', 'b', 'a', 'a', 'a']) await execute(ctx, long(last), { agent })
    watch.assertNone()
    post(ctx, ({ additionalContexts: _taken, ...decision }) => decision, PREPEND)
    for (const last of ['b', 'b', 'b']) await execute(ctx, long(last), { agent })
    expect(said(watch)).toEqual(['"look" shows 0 reminders, the recount expects 1'])
  })

  it('counts calls whose arguments no host could read', async () => {
    const { ctx, agent, watch } = await watched()
    const unreadable = { name: 'look', arguments: NaN }
    for (let count = 0; count < 3; count++) await execute(ctx, unreadable, { agent })
    await execute(ctx, { name: 'look', arguments: 'undefined' }, { agent })
    watch.assertNone()
    post(ctx, ({ additionalContexts: _taken, ...decision }) => decision, PREPEND)
    for (let count = 0; count < 3; count++) await execute(ctx, unreadable, { agent })
    expect(said(watch)).toEqual(['"look" shows 0 reminders, the recount expects 1'])
  })

  it('goes by what a host shows, if that has no token', async () => {
    const { ctx, agent, watch } = await watched({ thresholds: [2] })
    const foreign = foreignHost(ctx, agent)
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

  it('also when another call of the step was made twice under its id', async () => {
    const { harness, ctx, agent, watch } = await watched()
    refuseReminders(ctx)
    doubling(ctx, 'B')
    await play(harness, agent, 'A A AB')
    expect(said(watch)).toEqual(['"agent-1": the step ends without 1 of the reminders that its results showed'])
  })
})

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
