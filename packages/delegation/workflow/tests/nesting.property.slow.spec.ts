import fc from 'fast-check'
import { expect, it } from 'vitest'
import { codeOr, ids, stage } from './support.ts'

/** A program: agents and runs inside it, one after another. Fewer than ten agents in all, so that no run is cancelled. */
interface Nested {
  readonly max: number
  readonly steps: readonly ('agent' | Nested)[]
}

const { nested } = fc.letrec<{ nested: Nested; step: 'agent' | Nested }>((tie) => ({
  step: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 3, arbitrary: fc.constant('agent' as const) },
    { weight: 1, arbitrary: tie('nested') },
  ),
  nested: fc.record({ max: fc.integer({ min: 1, max: 5 }), steps: fc.array(tie('step'), { maxLength: 6 }) }),
}))

const agentsIn = ({ steps }: Nested): number => steps.reduce((count, step) => count + (step === 'agent' ? 1 : agentsIn(step)), 0)

/** What each agent comes to: counted by hand, from the inside out. */
function expected({ max, steps }: Nested, around: readonly { made: number; readonly max: number }[] = []): string[] {
  const chain = [{ made: 0, max }, ...around]
  return steps.flatMap((step) => {
    if (step !== 'agent') return expected(step, chain)
    if (chain.some((run) => run.made >= run.max)) return ['AGENT_CAP']
    for (const run of chain) run.made++
    return ['did a']
  })
}

it('runs inside runs: each agent counts in all of them, and is refused by the first that is full', async () => {
  const { harness, parent } = await stage()
  const execute = ({ max, steps }: Nested): Promise<string[]> =>
    harness.ctx.workflow.run({ parent, maxTotalAgents: max }, async ({ agent }) => {
      const outcomes: string[] = []
      for (const step of steps) {
        if (step === 'agent') outcomes.push(await codeOr(agent({ prompt: 'a' }).then(({ text }) => text)))
        else outcomes.push(...(await execute(step)))
      }
      return outcomes
    })
  await fc.assert(
    fc.asyncProperty(
      nested.filter((program) => agentsIn(program) < 10),
      async (program) => {
        expect(await execute(program)).toEqual(expected(program))
        expect(ids(harness)).toEqual(['main'])
      },
    ),
    { numRuns: 150 },
  )
})
