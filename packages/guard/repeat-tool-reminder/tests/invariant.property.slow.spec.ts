import type { Context } from '@deepseek-ai/cordis'
import * as reminder from '@loopguard/repeat-tool-reminder'
import { text } from '@loopguard/llm'
import { createHarness, mountInvariants } from '@loopguard/testkit'
import type { PostToolDecision } from '@loopguard/tools'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { deny, play, tools } from './stage.ts'

/** What a listener does with the review of a call, or with the message of a user. */
const whims = ['pass', 'pass', 'pass', 'hide', 'twice', 'fail before', 'fail after'] as const
type Whim = (typeof whims)[number]

const whim = fc.constantFrom(...whims)
/** A word of a trace, or something that is done to the guard. */
const deed = fc.oneof(
  { arbitrary: fc.constantFrom('A', 'A', 'A', 'B', 'AA', 'AB', 'X', 'D', 'O', 'C', 'text', 'U', 'P'), weight: 8 },
  { arbitrary: fc.constantFrom('restart', 'unload', 'load', 'reload companion'), weight: 1 },
)

async function obey(current: Whim, next: () => Promise<PostToolDecision>): Promise<PostToolDecision> {
  if (current === 'hide') return { kind: 'block', feedback: [text('no')] }
  if (current === 'fail before') throw new Error('no review today')
  const decision = await next()
  if (current === 'fail after') throw new Error('no review today')
  return current === 'twice' ? next() : decision
}

it('raises no false alarm, whatever listeners do around the guard, and whenever it comes and goes', { timeout: 120_000 }, async () => {
  const lists = fc.record({
    outer: fc.array(whim, { maxLength: 6 }),
    inner: fc.array(whim, { maxLength: 6 }),
    steps: fc.array(fc.boolean(), { maxLength: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { maxLength: 24 }), lists, fc.boolean(), async (deeds, { outer, inner, steps }, companionFirst) => {
      const harness = await createHarness({ plugins: [deny], invariants: false })
      const { ctx } = harness
      try {
        for (const definition of tools(() => ctx)) ctx.tools.register(definition)
        const config = { thresholds: [2, 3, 5], exclude: ['note_*'] }
        const load = (): PromiseLike<{ dispose(): Promise<void>; restart(): Promise<void> }> => ctx.plugin(reminder, config)
        let guard = companionFirst ? undefined : await load()
        const watch = await mountInvariants(ctx, { package_allowlist: ['^@loopguard/repeat-tool-reminder$'] })
        guard ??= await load()
        const around = (list: Whim[], prepend: boolean): void => {
          ctx.on('tools/post-execute', (_exec, _result, next) => obey(list.shift() ?? 'pass', next), { prepend })
        }
        around([...outer], true)
        around([...inner], false)
        const passes = [...steps]
        ctx.on(
          'agent/pre-step',
          ({ messages }, next) => (passes.shift() === false ? Promise.resolve({ kind: 'enter', messages }) : next()),
          {
            prepend: true,
          },
        )
        const agent = harness.agent()
        for (const what of deeds) {
          if (what === 'restart') await guard?.restart()
          else if (what === 'unload') guard = await guard?.dispose().then(() => undefined)
          else if (what === 'load') guard ??= await load()
          else if (what === 'reload companion') await companionFiber(ctx)?.restart()
          else await play(harness, agent, what === 'U' || what === 'P' ? `${what} text` : what, 'P')
        }
        expect(watch.violations).toEqual([])
      } finally {
        await harness.dispose()
      }
    }),
    { numRuns: 150 },
  )
})

function companionFiber(ctx: Context) {
  return ctx.invariants.registrations().find(({ packageName }) => packageName === '@loopguard/repeat-tool-reminder')?.fiber
}
