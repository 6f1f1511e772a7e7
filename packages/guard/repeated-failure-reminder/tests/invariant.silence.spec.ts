import type { Context } from '@deepseek-ai/cordis'
import { text } from '@loopguard/llm'
import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import * as guard from '@loopguard/repeated-failure-reminder'
import { mountInvariants } from '@loopguard/testkit'
import type { PostToolDecision } from '@loopguard/tools'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { execute, play, preStep, stage } from './stage.ts'

const OWN = { package_allowlist: ['^@loopguard/repeated-failure-reminder$'] }

/** What the companion says of a trace beside the real guard. */
async function violations(
  trace: string,
  listen: (ctx: Context) => void = () => {},
  config: guard.Config = {},
): Promise<readonly unknown[]> {
  await using harness = await stage([], false)
  const watch = await mountInvariants(harness.ctx, OWN)
  await harness.ctx.plugin(guard, config)
  listen(harness.ctx)
  await play(harness, harness.agent(), trace)
  return watch.violations
}

const forge = (ctx: Context): void =>
  void ctx.on('tools/post-execute', async (_exec, _result, next) => ({ ...(await next()), additionalContexts: [] }))

describe('nothing is said where nothing can be', () => {
  it.each([
    ['errors that differ in what may be masked', 'A x A x A', (ctx: Context) => number(ctx)],
    [
      'a listener of another plugin stands outside',
      'A x A x A',
      (ctx: Context) =>
        void ctx.on('tools/post-execute', async (_exec, _result, next) => ({ ...(await next()), additionalContexts: [] }), {
          prepend: true,
        }),
    ],
    ['the guard is loaded twice', 'A x A x A', (ctx: Context) => void ctx.plugin(guard, { thresholds: [2] })],
  ])('%s', async (_title, trace, listen) => {
    expect(await violations(trace, listen)).toEqual([])
  })

  it('before the user has spoken', async () => {
    await using harness = await stage([], false)
    const watch = await mountInvariants(harness.ctx, OWN)
    await harness.ctx.plugin(guard)
    forge(harness.ctx)
    await play(harness, harness.agent(), 'A x A x A', 'P')
    expect(watch.violations).toEqual([])
  })

  it('a call stands twice in a step beside the other reminder', async () => {
    const listen = (ctx: Context): void => {
      void ctx.plugin(repeatToolReminder, {})
      forge(ctx)
    }
    expect(await violations('A x A x AA', listen)).toEqual([])
  })

  it('the other reminder compares results', async () => {
    expect(await violations('A A A', (ctx) => void ctx.plugin(repeatToolReminder, { results: 'unchanged' }))).toEqual([])
  })

  it('a reminder of another house, whose configuration is not understood', async () => {
    const foreign = {
      name: 'repeat-tool-reminder',
      apply: (ctx: Context) => void ctx.on('tools/post-execute', (_exec, _result, next) => next()),
    }
    expect(await violations('A A A', (ctx) => void ctx.plugin(foreign, { thresholds: 'many' } as never))).toEqual([])
    expect(await violations('A A A', (ctx) => void ctx.plugin(foreign, { thresholds: [2], include: [], exclude: ['a'] } as never))).toEqual(
      [],
    )
  })

  it('a guard of that name with rules of its own', async () => {
    await using harness = await stage([], false)
    const watch = await mountInvariants(harness.ctx, OWN)
    const foreign = {
      name: 'repeated-failure-reminder',
      apply: (ctx: Context) => void ctx.on('tools/post-execute', (_exec, _result, next) => next(), { prepend: true }),
    }
    await harness.ctx.plugin(foreign, { include: [], exclude: [], thresholds: 3 } as never)
    await play(harness, harness.agent(), 'A x A x A')
    expect(watch.violations).toEqual([])
  })

  it('calls past the loop, of whose step nothing is known', async () => {
    await using harness = await stage([], false)
    const { ctx } = harness
    const watch = await mountInvariants(ctx, OWN)
    await ctx.plugin(guard)
    await ctx.plugin(repeatToolReminder, {})
    const agent = harness.agent()
    await play(harness, agent, 'x')
    const said: number[] = []
    for (const name of ['nobody', 'x', 'nobody', 'x', 'nobody', 'nobody', 'nobody'])
      said.push((await execute(ctx, { name, arguments: {} }, { agent })).additionalContexts?.length ?? 0)
    expect([said, watch.violations]).toEqual([[0, 0, 0, 0, 1, 0, 1], []])
  })

  it('a step of which nothing is known', async () => {
    await using harness = await stage([], false)
    await mountInvariants(harness.ctx, OWN)
    for (const event of [undefined, {}, { agent: {} }, { agent: {}, messages: [null] }])
      expect(preStep(harness.ctx, event)).toEqual({ kind: 'enter' })
  })
})

it('sixty-five failing calls are sixty-four for the companion too', async () => {
  await using harness = await stage([], false)
  const { ctx } = harness
  const watch = await mountInvariants(ctx, OWN)
  await ctx.plugin(guard, { thresholds: [2] })
  const agent = harness.agent()
  const letter = (index: number): string => String.fromCharCode(97 + (index % 26))
  const names = Array.from({ length: 65 }, (_, index) => `gone${letter(index)}${letter(Math.floor(index / 26))}`)
  const calls = [...names, ...names.slice(0, 1), ...names.slice(64)].map((name) => ({ name, arguments: {} }))
  harness.model.push({ calls }, { text: 'done' })
  await harness.say(agent, 'go')
  expect(watch.violations).toEqual([])
  expect(agent.session.events.filter(({ type, data }) => type === 'user/message' && data.source.kind === 'plugin')).toHaveLength(1)
})

function number(ctx: Context): void {
  let call = 0
  ctx.on('tools/execute', async (_exec, next) => {
    const result = await next()
    if (!result.isError) return result
    throw new Error(`failed in line ${++call}`)
  })
}

const whims = ['pass', 'pass', 'pass', 'pass', 'hide', 'twice', 'fail before', 'fail after'] as const
type Whim = (typeof whims)[number]

async function obey(current: Whim, next: () => Promise<PostToolDecision>): Promise<PostToolDecision> {
  if (current === 'hide') return { kind: 'block', feedback: [text('no')] }
  if (current === 'fail before') throw new Error('no review today')
  const decision = await next()
  if (current === 'fail after') throw new Error('no review today')
  return current === 'twice' ? next() : decision
}

it('raises no false alarm beside both guards, whatever listeners do around them', { timeout: 120_000 }, async () => {
  const word = fc.oneof(
    { arbitrary: fc.constantFrom('A', 'A', 'A', 'A', 'a', 'B', 'x', 'AA', 'AxA', 'AB', '1', '2', 'U', 'P'), weight: 12 },
    { arbitrary: fc.constantFrom('restart', 'restart other'), weight: 1 },
  )
  const whim = fc.array(fc.constantFrom(...whims), { maxLength: 6 })
  const other = fc.option(
    fc.record({ results: fc.constantFrom('any' as const, 'unchanged' as const), thresholds: fc.constantFrom([2], [3, 5]) }),
    { nil: undefined },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(word, { maxLength: 20 }), whim, whim, other, async (words, outer, inner, quiet) => {
      const harness = await stage([], false)
      const { ctx } = harness
      const watch = await mountInvariants(ctx, OWN)
      const own = await ctx.plugin(guard, { thresholds: [2, 3, 5] })
      const beside = quiet && (await ctx.plugin(repeatToolReminder, quiet))
      const [before, after] = [[...outer], [...inner]]
      ctx.on('tools/post-execute', (_exec, _result, next) => obey(before.shift() ?? 'pass', next), { prepend: true })
      ctx.on('tools/post-execute', (_exec, _result, next) => obey(after.shift() ?? 'pass', next))
      const agent = harness.agent()
      for (const what of words) {
        if (what === 'restart') await own.restart()
        else if (what === 'restart other') await beside?.restart()
        else await play(harness, agent, what === 'U' || what === 'P' ? 'x' : what, what === 'U' ? 'U' : 'P')
      }
      const found = watch.violations.map(String)
      await harness.dispose()
      expect(found).toEqual([])
    }),
    { numRuns: 60 },
  )
})
