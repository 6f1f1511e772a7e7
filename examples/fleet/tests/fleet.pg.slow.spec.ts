import { describe, expect, it } from 'vitest'
import { MUST_BE_ZERO } from '../audit.mjs'
import { type FleetOptions, type FleetResult, runFleet } from '../run-fleet.mjs'

const isLong = process.env['LOOPGUARD_LONG'] === '1'
const built = process.env['LOOPGUARD_TEST_MODE'] === 'lib'
const size = isLong ? { agents: 1000, messages: 6 } : { agents: 40, messages: 2, modelMs: 300, settings: ['fsync=off'] }
const timeout = isLong ? 600_000 : 240_000

const fleet = async (options: Partial<FleetOptions>): Promise<FleetResult> => runFleet({ ...size, built, ...options })

/** What is not 0 and must be, with what the workers said. */
function brokenIn(result: FleetResult): Readonly<Record<string, unknown>> {
  const broken = MUST_BE_ZERO.filter((key) => result[key] !== 0)
  return broken.length === 0 ? {} : { ...Object.fromEntries(broken.map((key) => [key, result[key]])), said: result.said }
}

describe('of a fleet nothing is lost, and nothing happens twice', () => {
  it('when workers are killed one after the other', { timeout }, async () => {
    const result = await fleet(isLong ? { kills: 9 } : { kills: 3, everyMs: 1000 })
    expect(brokenIn(result)).toEqual({})
    expect(result.effects).toBeGreaterThanOrEqual(size.agents * size.messages)
    expect(result.interrupted).toBeGreaterThan(0)
    expect(result.codes).toEqual([0, 0, 0])
  })

  it('when a worker is stopped for longer than its lease, and wakes', { timeout }, async () => {
    const result = await fleet(isLong ? { stopMs: 15_000 } : { stopMs: 4000, leaseMs: 1500, everyMs: 1000 })
    expect(brokenIn(result)).toEqual({})
    expect(result.interrupted).toBeGreaterThan(0)
    expect(result.lost).toBeGreaterThanOrEqual(result.interrupted)
  })

  // The rest takes minutes, and is no part of every run.
  it.each(isLong ? [10_000] : [])('when the database is away for %d ms', { timeout }, async (outageMs) => {
    const result = await fleet({ outageMs })
    expect(brokenIn(result)).toEqual({})
    expect(result.lost).toBe(0)
  })
})

const CONTROLS: readonly (readonly [without: NonNullable<FleetOptions['without']>, Partial<FleetOptions>, broken: string])[] = [
  ['barriers', { kills: 9 }, 'effectsNotInLog'],
  ['fencing', { stopMs: 9000 }, 'gaps'],
  ['orphans', { kills: 9, giveUpMs: 30_000 }, 'pending'],
]

it.each(isLong ? CONTROLS : [])('a fleet without %s breaks its promises', { timeout }, async (without, options, broken) => {
  const result = await fleet({ without, agents: 300, ...options })
  expect(Object.keys(brokenIn(result))).toContain(broken)
})
