import { Context } from '@deepseek-ai/cordis'
import * as reminder from '@loopguard/repeat-tool-reminder'
import ToolRuntime, { type ToolAgent } from '@loopguard/tools'
import fc from 'fast-check'
import { watchContexts } from '@loopguard/testkit'
import { afterAll, expect, it, vi } from 'vitest'
import { reordered } from './json.ts'
import { type Call, execute, mark, preStep } from './stage.ts'

afterAll(watchContexts())

// A busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 })

interface Happening {
  readonly agent: number
  readonly what: 'call' | 'user' | 'plugin'
  readonly call: number
  readonly nested: boolean
}

const CALLS: readonly Call[] = [
  { name: 'look', arguments: { a: 1, b: { c: 2, d: 3 } } },
  { name: 'look', arguments: { a: 1, b: { c: 2, d: 4 } } },
  { name: 'seek', arguments: { a: 1, b: { c: 2, d: 3 } } },
  { name: 'note_a', arguments: {} },
  { name: 'note_b', arguments: {} },
]

/** The rules, told in ten lines: what each happening brings. */
function expected(happenings: readonly Happening[], thresholds: readonly number[]): string[] {
  const chains = new Map<number, { call: number; run: number }>()
  const [first] = [...thresholds].sort((a, b) => a - b)
  return happenings.map(({ agent, what, call, nested }) => {
    if (what === 'user') chains.delete(agent)
    if (what !== 'call' || nested || call > 2) return ''
    const last = chains.get(agent)
    const run = last?.call === call ? last.run + 1 : 1
    chains.set(agent, { call, run })
    return !thresholds.includes(run) ? '' : run === first ? '!' : `!${run}`
  })
}

it('for any trace of any agents, the reminders are those of a ten-line model', async () => {
  const happening: fc.Arbitrary<Happening> = fc.record({
    agent: fc.nat(2),
    what: fc.constantFrom('call', 'call', 'call', 'call', 'call', 'call', 'user', 'plugin'),
    call: fc.constantFrom(0, 0, 0, 0, 1, 2, 3, 4),
    nested: fc.constantFrom(false, false, false, false, false, true),
  })
  const thresholds = fc.uniqueArray(fc.integer({ min: 2, max: 7 }), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 60 }), thresholds, fc.infiniteStream(fc.nat()), async (trace, at, stream) => {
      const ctx = new Context()
      await ctx.plugin(ToolRuntime)
      await ctx.plugin(reminder, { thresholds: at, exclude: ['note_*'] })
      for (const name of ['look', 'note_a']) ctx.tools.register({ name, description: '', parameters: {}, execute: () => 'same' })
      const agents = [0, 1, 2].map((id): ToolAgent => ({ id: `${id}` as ToolAgent['id'], ctx }))
      const heard: string[] = []
      for (const { agent: index, what, call, nested } of trace) {
        const agent = agents[index] as ToolAgent
        if (what !== 'call') {
          await preStep(ctx, { agent, messages: [{ source: { kind: what } }] })
          heard.push('')
          continue
        }
        const { name, arguments: args } = CALLS[call] as Call
        const shuffled = reordered(args, (count) => (stream.next().value ?? 0) % count)
        const enclosing = nested ? { parent: Symbol('enclosing') } : {}
        const { additionalContexts = [] } = await execute(ctx, { name, arguments: shuffled }, { agent, ...enclosing })
        heard.push(additionalContexts.map(mark).join(' '))
      }
      expect(heard).toEqual(expected(trace, at))
      await ctx.fiber.dispose()
    }),
    { numRuns: 150 },
  )
})
