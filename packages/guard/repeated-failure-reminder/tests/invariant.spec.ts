import type { Context } from '@deepseek-ai/cordis'
import { createUserMessage, text, type UserMessage } from '@loopguard/llm'
import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import * as guard from '@loopguard/repeated-failure-reminder'
import { type InvariantWatch, mountInvariants } from '@loopguard/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { execute, isReminder, play, type Stage, stage } from './stage.ts'

const NAME = '@loopguard/repeated-failure-reminder'

interface Watched {
  readonly harness: Stage
  readonly ctx: Context
  readonly watch: InvariantWatch
}

/** A host with this companion alone. */
async function watched(): Promise<Watched> {
  const harness = await stage([], false)
  onTestFinished(() => harness.dispose())
  const watch = await mountInvariants(harness.ctx, { package_allowlist: [`^${NAME}$`] })
  return { harness, ctx: harness.ctx, watch }
}

/** What the companion has said, all of it recorded, emitted and logged. */
function said(watch: InvariantWatch): string[] {
  return watch.violations.map(({ message }) => {
    watch.assertBroken(NAME, message)
    return message.replace(/^invariant violated by "[^"]+": (call "[^"]+" of tool |session )/, '')
  })
}

function forged(): UserMessage {
  return createUserMessage({ content: [text('It failed.')], source: { kind: 'plugin', plugin: 'repeated-failure-reminder' } })
}

interface Faults {
  /** Whether a reminder is due at that count. */
  readonly isDue?: (count: number) => boolean
  /** What tells one call from another, and one error from another. */
  readonly keyOf?: (agent: object, name: string) => string
  readonly errorOf?: (error: string) => string
  readonly forgetsSuccess?: boolean
  readonly forgetsOthers?: boolean
  readonly startsAfresh?: (kind: string) => boolean
  readonly seesNested?: boolean
  readonly isLoud?: boolean
}

const ids = new WeakMap<object, number>()
let agents = 0
const idOf = (agent: object): number => {
  const id = ids.get(agent) ?? ++agents
  ids.set(agent, id)
  return id
}

/** A guard that has the name and the configuration of the real one, and a fault. */
async function faultyGuard(ctx: Context, faults: Faults = {}, config: guard.Config = {}): Promise<void> {
  const {
    isDue = (count) => [3, 5].includes(count),
    keyOf = (agent, name) => `${idOf(agent)} ${name}`,
    errorOf = (error) => error,
  } = faults
  await ctx.plugin(
    {
      name: 'repeated-failure-reminder',
      Config: guard.Config,
      apply(own: Context) {
        let counts = new Map<string, { error: string; count: number }>()
        let last = ''
        let run = 0
        own.on('agent/pre-step', ({ messages }, next) => {
          if (messages.some(({ source }) => (faults.startsAfresh ?? ((kind) => kind === 'user'))(source.kind))) {
            counts = new Map()
            run = 0
          }
          return next()
        })
        own.on(
          'tools/post-execute',
          async ({ agent, name, parent }, result, next) => {
            const decision = await next()
            if (agent === undefined || (parent !== undefined && faults.seesNested !== true) || name.startsWith('y')) return decision
            const key = keyOf(agent, name)
            run = key === last ? run + 1 : 1
            last = key
            if (!result.isError) {
              if (faults.forgetsSuccess !== false) counts.delete(key)
              if (faults.forgetsOthers === true) counts.clear()
              return decision
            }
            const error = errorOf(result.error.message)
            const known = counts.get(key)
            const count = known?.error === error ? known.count + 1 : 1
            counts.set(key, { error, count })
            if (!isDue(count) || (run >= 3 && faults.isLoud !== true)) return decision
            return { ...decision, additionalContexts: [forged(), ...(decision.additionalContexts ?? [])] }
          },
          { prepend: true },
        )
      },
    },
    { exclude: ['y'], ...config } as never,
  )
}

const none = (shown: number, expected: number, tool = 'a'): string => `"${tool}" shows ${shown} reminders, the recount expects ${expected}`

it('says nothing of the faulty guard while it has no fault', async () => {
  const { harness, ctx, watch } = await watched()
  await ctx.plugin(repeatToolReminder, {})
  await faultyGuard(ctx)
  await play(harness, harness.agent(), 'A x A b A B x A A A A U A x A a A Y Y Y')
  expect(said(watch)).toEqual([])
})

describe('the reminders of a failing call are those of a recount', () => {
  it('trips when a listener adds a reminder that is not due', async () => {
    const { harness, ctx, watch } = await watched()
    await ctx.plugin(guard)
    ctx.on('tools/post-execute', async (_exec, _result, next) => ({ ...(await next()), additionalContexts: [forged()] }))
    await play(harness, harness.agent(), 'A')
    expect(said(watch)).toEqual([none(1, 0)])
  })

  it('trips when the guard does not remind though it is due', async () => {
    const { harness, ctx, watch } = await watched()
    await faultyGuard(ctx, { isDue: () => false })
    await play(harness, harness.agent(), 'A x A x A')
    expect(said(watch)).toEqual([none(0, 1)])
  })

  it('trips when the guard reminds one failure late', async () => {
    const { harness, ctx, watch } = await watched()
    await faultyGuard(ctx, { isDue: (count) => count === 4 })
    await play(harness, harness.agent(), 'A x A x A x A')
    expect(said(watch)).toEqual([none(0, 1), none(1, 0)])
  })

  it('trips when the guard falls silent after its first threshold', async () => {
    const { harness, ctx, watch } = await watched()
    await faultyGuard(ctx, { isDue: (count) => count === 3 })
    await play(harness, harness.agent(), 'A x A x A x A x A')
    expect(said(watch)).toEqual([none(0, 1)])
  })

  it('trips when the guard does not forget a call that succeeds', async () => {
    const { harness, ctx, watch } = await watched()
    await faultyGuard(ctx, { forgetsSuccess: false })
    await play(harness, harness.agent(), 'A x A x a x A')
    expect(said(watch)).toEqual([none(1, 0)])
  })

  it('trips when the success of another call forgets the failures', async () => {
    const { harness, ctx, watch } = await watched()
    await faultyGuard(ctx, { forgetsOthers: true })
    await play(harness, harness.agent(), 'A x A x A')
    expect(said(watch)).toEqual([none(0, 1)])
  })

  it('trips when the guard takes any error for the same', async () => {
    const { harness, ctx, watch } = await watched()
    await faultyGuard(ctx, { errorOf: () => 'any' })
    await play(harness, harness.agent(), '1 x 2 x 3')
    expect(said(watch)).toEqual([none(1, 0)])
  })

  it('trips when the guard takes no two errors for the same', async () => {
    const { harness, ctx, watch } = await watched()
    let errors = 0
    await faultyGuard(ctx, { errorOf: () => `${++errors}` })
    await play(harness, harness.agent(), 'A x A x A')
    expect(said(watch)).toEqual([none(0, 1)])
  })

  it('trips when the guard counts the failures of all calls together', async () => {
    const { harness, ctx, watch } = await watched()
    await faultyGuard(ctx, { keyOf: () => 'all', errorOf: () => 'any', forgetsSuccess: false, isLoud: true })
    await play(harness, harness.agent(), 'A B C')
    expect(said(watch)).toEqual([none(1, 0, 'c')])
  })

  it('trips when the guard counts what it is told to leave out', async () => {
    const { harness, ctx, watch } = await watched()
    await faultyGuard(ctx, {}, { exclude: ['a'] })
    await play(harness, harness.agent(), 'A x A x A')
    expect(said(watch)).toEqual([none(1, 0)])
  })

  it('trips when the guard counts the calls of all agents together', async () => {
    const { harness, ctx, watch } = await watched()
    await faultyGuard(ctx, { keyOf: (_agent, name) => name, startsAfresh: () => false })
    const [one, two] = [harness.agent(), harness.agent()]
    for (const agent of [one, two]) await play(harness, agent, 'A x A')
    expect(said(watch)).toEqual([none(1, 0)])
  })

  it('trips when the guard counts the calls inside of a call', async () => {
    const { harness, ctx, watch } = await watched()
    await faultyGuard(ctx, { seesNested: true })
    const agent = harness.agent()
    await play(harness, agent, 'A x A')
    for (let call = 0; call < 2; call++) {
      harness.outcomes.push('A')
      await execute(ctx, { name: 'a', arguments: {} }, { agent, parent: Symbol('enclosing') as never })
    }
    expect(said(watch)).toEqual([none(1, 0)])
  })

  it('trips when the guard does not start afresh with a message of the user', async () => {
    const { harness, ctx, watch } = await watched()
    await faultyGuard(ctx, { startsAfresh: () => false })
    await play(harness, harness.agent(), 'A x A U A')
    expect(said(watch)).toEqual([none(1, 0)])
  })

  it('trips when the guard starts afresh with a message of a plugin', async () => {
    const { harness, ctx, watch } = await watched()
    await faultyGuard(ctx, { startsAfresh: () => true })
    await play(harness, harness.agent(), 'A x A P A')
    expect(said(watch)).toEqual([none(0, 1)])
  })

  it('trips when the guard speaks of a call that the other reminder speaks of', async () => {
    const { harness, ctx, watch } = await watched()
    await ctx.plugin(repeatToolReminder, {})
    await faultyGuard(ctx, { isLoud: true })
    await play(harness, harness.agent(), 'A A A')
    expect(said(watch)).toEqual([none(1, 0)])
  })

  it('trips when the guard is silent though no other reminder speaks', async () => {
    const { harness, ctx, watch } = await watched()
    await ctx.plugin(repeatToolReminder, { thresholds: [4] })
    await faultyGuard(ctx)
    await play(harness, harness.agent(), 'A A A')
    expect(said(watch)).toEqual([none(0, 1)])
  })

  it('trips when the guard does not know a failure that is told by its text', async () => {
    const { harness, ctx, watch } = await watched()
    await faultyGuard(ctx, {}, { errors: '^b$' })
    await play(harness, harness.agent(), 'b x b x b')
    expect(said(watch)).toEqual([none(0, 1, 'b')])
  })
})

describe('each reminder stands in the log, after the last result of its step', () => {
  it('trips when a plugin logs a reminder before the last result', async () => {
    const { harness, ctx, watch } = await watched()
    const agent = harness.agent()
    ctx.on('tools/post-execute', (_exec, _result, next) => {
      if (agent.session.events.every(({ type, data }) => type !== 'user/message' || !isReminder(data)))
        agent.session.append('user/message', forged())
      return next()
    })
    await play(harness, agent, 'ab')
    expect(said(watch).some((words) => words.includes('stands before the last result of its step'))).toBe(true)
  })

  it('trips when a reminder that a result showed is kept out of the log', async () => {
    const { harness, ctx, watch } = await watched()
    await ctx.plugin(guard)
    ctx.on('internal/dispatch', (_mode, event, args) => {
      const logged = args[1] as { type: string; data: UserMessage } | undefined
      if (event === 'session/event' && logged?.type === 'user/message' && isReminder(logged.data)) throw new Error('no more of these')
    })
    await play(harness, harness.agent(), 'A x A x A')
    expect(said(watch).some((words) => words.includes('the step ends without 1 of the reminders'))).toBe(true)
  })
})
