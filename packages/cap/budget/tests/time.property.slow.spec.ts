import { type FakeClock, fakeClock, userMessage } from '@loopguard/testkit'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ends, reached, stage, tool } from './stage.ts'

/** A turn: how long each of its calls takes, and how long the person waits before it. */
interface PlannedTurn {
  readonly calls: readonly number[]
  readonly pause: number
}

interface Limits {
  readonly maxTurnMs: number
  readonly maxAgentMs: number
}

type Key = keyof Limits

interface Outcome {
  readonly ends: string[]
  readonly reached: string[]
  /** How long each turn took. */
  readonly took: number[]
}

/** What time makes of the turns, told without a loop and without timers. */
function outcomeOf(limits: Limits, turns: readonly PlannedTurn[]): Outcome {
  const outcome: Outcome = { ends: [], reached: [], took: [] }
  let total = 0
  turns.forEach(({ calls }, index) => {
    let [elapsed, end] = [0, 'completed']
    const over = (): Key[] => {
      const used = { maxTurnMs: elapsed, maxAgentMs: total + elapsed }
      return (['maxTurnMs', 'maxAgentMs'] as const).filter((key) => used[key] >= limits[key])
    }
    const tell = (step: number): void => {
      for (const key of over()) {
        const isKnown = key === 'maxAgentMs' && outcome.reached.some((line) => line.includes(key))
        if (!isKnown) outcome.reached.push(`${index + 1}.${step} ${key} ${limits[key]}`)
      }
    }
    for (const [at, ms] of [...calls, 0].entries()) {
      if (over().length > 0) {
        tell(at + 1)
        end = 'blocked'
        break
      }
      const left = Math.min(limits.maxTurnMs - elapsed, limits.maxAgentMs - total - elapsed)
      elapsed += Math.min(ms, left)
      if (ms < left) continue
      tell(at + 1)
      end = `aborted ${JSON.stringify({ kind: 'budget', limit: over()[0] })}`
      break
    }
    outcome.ends.push(end)
    outcome.took.push(elapsed)
    total += elapsed
  })
  return outcome
}

/** What the real loop comes to, on a clock that stands still between its timers. */
async function run(clock: FakeClock, limits: Limits, turns: readonly PlannedTurn[]): Promise<Outcome> {
  const wait = tool('wait', {
    execute: (args, { signal }) =>
      new Promise<string>((resolve, reject) => {
        const timer = setTimeout(resolve, (args as { ms: number }).ms, 'waited')
        signal.addEventListener('abort', () => {
          clearTimeout(timer)
          reject(signal.reason as Error)
        })
      }),
  })
  let calls: readonly number[] = []
  const answer = () => {
    const [ms, ...rest] = calls
    calls = rest
    return ms === undefined ? { text: 'done' } : { calls: [{ name: 'wait', arguments: { ms } }] }
  }
  const { agent1 } = await stage({ ...limits }, { script: Array.from({ length: 100 }, () => answer), tools: [wait] })
  for (const turn of turns) {
    await clock.advance(turn.pause)
    calls = turn.calls
    agent1.followup(userMessage('go'))
    await clock.advance(1_000)
    expect([agent1.status, clock.pending]).toEqual(['idle', 0])
  }
  const times = agent1.session.events.flatMap(({ type, time }) => (type === 'turn/start' || type === 'turn/end' ? [time] : []))
  const took = turns.map((_, index) => (times[2 * index + 1] ?? NaN) - (times[2 * index] ?? NaN))
  return { ends: ends(agent1), reached: reached(agent1), took }
}

it('turns take as long as the limits of time allow, to the millisecond, and what passes between them is free', async () => {
  using clock = fakeClock()
  const turn = fc.record({ calls: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 4 }), pause: fc.nat(5_000) })
  const limits = fc.record({ maxTurnMs: fc.integer({ min: 1, max: 80 }), maxAgentMs: fc.integer({ min: 1, max: 200 }) })
  await fc.assert(
    fc.asyncProperty(limits, fc.array(turn, { minLength: 1, maxLength: 5 }), async (set, turns) => {
      expect(await run(clock, set, turns)).toEqual(outcomeOf(set, turns))
    }),
    { numRuns: 40 },
  )
})
