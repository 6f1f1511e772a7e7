import { createFailureTracker, createRepeatTracker, type StepCalls } from '@loopguard/repeat'
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'

// A busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 })

interface Made {
  readonly agent: number
  readonly name: string
  readonly error: number | undefined
}

const made: fc.Arbitrary<Made | 'user'> = fc.oneof(
  {
    arbitrary: fc.record({
      agent: fc.nat(1),
      name: fc.constantFrom('a', 'a', 'b', 'c', 'note'),
      error: fc.constantFrom(undefined, 1, 1, 1, 2),
    }),
    weight: 12,
  },
  { arbitrary: fc.constant('user' as const), weight: 1 },
)

/** The rule, told in ten lines: after which calls a reminder is due, as if no other one was there. */
function expected(trace: readonly (Made | 'user')[], thresholds: readonly number[]): boolean[] {
  const counts = new Map<string, { error: number; count: number }>()
  return trace.map((each) => {
    if (each === 'user') for (const key of counts.keys()) if (key.startsWith('0')) counts.delete(key)
    if (each === 'user' || each.name === 'note') return false
    const key = `${each.agent}${each.name}`
    const last = counts.get(key)
    counts.delete(key)
    if (each.error === undefined) return false
    const count = last?.error === each.error ? last.count + 1 : 1
    counts.set(key, { error: each.error, count })
    return thresholds.includes(count)
  })
}

it('for any trace of any agents, the reminders are those of a ten-line model, but for what the other reminder speaks of', () => {
  const numbers = fc.uniqueArray(fc.integer({ min: 2, max: 6 }), { minLength: 1, maxLength: 3 })
  const quiet = fc.option(fc.record({ thresholds: numbers, results: fc.constantFrom('any' as const, 'unchanged' as const) }), {
    nil: undefined,
  })
  fc.assert(
    fc.property(fc.array(made, { maxLength: 60 }), numbers, quiet, (trace, thresholds, other) => {
      const tracker = createFailureTracker({ thresholds, exclude: ['note'] }, { quiet: other })
      const first = other && Math.min(...other.thresholds)
      const runs = createRepeatTracker(other)
      const agents = [{}, {}]
      const due = expected(trace, thresholds)
      for (const [index, each] of trace.entries()) {
        if (each === 'user') {
          tracker.reset(agents[0] as object)
          runs.reset(agents[0] as object)
          continue
        }
        const agent = agents[each.agent] as object
        const outcome = { isError: each.error !== undefined, text: each.error === 2 ? 'broken' : `no such file (line ${index})` }
        runs.observe(agent, each.name, {}, outcome)
        const isSpokenOf = first !== undefined && (runs.save(agent)?.length ?? 0) >= first
        const said = tracker.observe(agent, each.name, {}, outcome) !== undefined
        expect(said).toBe(due[index] === true && !isSpokenOf)
      }
    }),
    { numRuns: 500 },
  )
})

it('in a step whose calls are known, the two never speak of the same call', () => {
  const step = fc.array(fc.record({ name: fc.constantFrom('a', 'a', 'a', 'b'), isError: fc.constantFrom(true, true, true, false) }), {
    minLength: 1,
    maxLength: 5,
  })
  const numbers = fc.uniqueArray(fc.integer({ min: 2, max: 5 }), { minLength: 1, maxLength: 4 })
  let [both, either] = [0, 0]
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 12 }),
      numbers,
      numbers,
      fc.constantFrom('any' as const, 'unchanged' as const),
      (steps, one, two, results) => {
        const quiet = { thresholds: two, results }
        const [failures, repeats, agent] = [createFailureTracker({ thresholds: one }, { quiet }), createRepeatTracker(quiet), {}]
        for (const made of steps) {
          const calls: StepCalls = { calls: made.map(({ name }) => ({ name, args: {} })) }
          const [told, repeated] = [new Set<string>(), new Set<string>()]
          for (const { name, isError } of made) {
            const outcome = { isError, text: 'same' }
            if (repeats.observe(agent, name, {}, outcome) !== undefined) repeated.add(name)
            if (failures.observe(agent, name, {}, outcome, calls) !== undefined) told.add(name)
          }
          for (const name of told) {
            either++
            if (repeated.has(name)) both++
          }
        }
      },
    ),
    { numRuns: 1_000 },
  )
  expect(both).toBe(0)
  expect(either).toBeGreaterThan(50)
})
