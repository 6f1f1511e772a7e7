import { describe, expect, it } from 'vitest'
import { MUST_BE_ZERO } from '../audit.mjs'
import { type FleetOptions, type FleetResult, runFleet } from '../run-fleet.mjs'

const isLong = process.env['LOOPGUARD_LONG'] === '1'
const built = process.env['LOOPGUARD_TEST_MODE'] === 'lib'
const size = isLong ? { agents: 1000, messages: 6 } : { agents: 40, messages: 2, modelMs: 300, settings: ['fsync=off'] }
const timeout = isLong ? 600_000 : 120_000

const fleet = async (options: Partial<FleetOptions>): Promise<FleetResult> => runFleet({ ...size, built, ...options })

/** By name, so that a failure says what was broken, and how often. */
const brokenIn = (result: FleetResult): object =>
  Object.fromEntries(MUST_BE_ZERO.filter((key) => result[key] !== 0).map((key) => [key, result[key]]))

describe('of a fleet nothing is lost, and nothing happens twice', () => {
  it('when workers are killed one after the other', { timeout }, async () => {
    const result = await fleet(isLong ? { kills: 9 } : { kills: 3, everyMs: 1000 })
    expect(brokenIn(result), result.said.join('\n')).toEqual({})
    expect(result.effects).toBeGreaterThanOrEqual(size.agents * size.messages)
    expect(result.interrupted).toBeGreaterThan(0)
    expect(result.codes).toEqual([0, 0, 0])
  })

  it('when a worker is stopped for longer than its lease, and wakes', { timeout }, async () => {
    const result = await fleet(isLong ? { stopMs: 15_000 } : { stopMs: 4000, leaseMs: 1500, everyMs: 1000 })
    expect(brokenIn(result), result.said.join('\n')).toEqual({})
    expect(result.interrupted).toBeGreaterThan(0)
    expect(result.lost).toBeGreaterThanOrEqual(result.interrupted)
  })
})

// Minutes: not in every run of the suite.
if (isLong) {
  describe('the long form', () => {
    it('of a fleet nothing is lost, and nothing happens twice, when the database is away for ten seconds', { timeout }, async () => {
      const result = await fleet({ outageMs: 10_000 })
      expect(brokenIn(result), result.said.join('\n')).toEqual({})
      expect(result.lost).toBe(0)
    })

    it.each<[NonNullable<FleetOptions['without']>, Partial<FleetOptions>, readonly (keyof FleetResult)[]]>([
      ['barriers', { kills: 9 }, ['effectsNotInLog']],
      ['fencing', { stopMs: 9000 }, ['gaps']],
      ['orphans', { kills: 9, giveUpMs: 30_000 }, ['pending']],
    ])('a fleet without %s breaks its promises', { timeout }, async (without, options, broken) => {
      const result = await fleet({ without, agents: 300, ...options })
      expect(Object.keys(brokenIn(result))).toEqual(expect.arrayContaining([...broken]))
    })
  })
}
