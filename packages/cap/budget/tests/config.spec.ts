import { Config, type Limit } from '@loopguard/budget'
import { createHarness } from '@loopguard/testkit'
import * as budget from '@loopguard/budget'
import { describe, expect, it } from 'vitest'

interface Outcome {
  readonly value?: unknown
  readonly issues?: readonly { readonly message: string }[]
}

const outcomeOf = (config: unknown): Outcome =>
  (Config as never as { '~standard': { validate(value: unknown): Outcome } })['~standard'].validate(config)
const faultsOf = (config: unknown): string[] => (outcomeOf(config).issues ?? []).map(({ message }) => message)

const LIMITS: Limit[] = [
  'maxStepsPerTurn',
  'maxTokensPerTurn',
  'maxTurnMs',
  'maxStepsPerAgent',
  'maxTokensPerAgent',
  'maxAgentMs',
  'maxCallsPerTurn',
  'maxCallsPerAgent',
  'maxEqualCalls',
]

describe.each(LIMITS)('%s', (limit) => {
  it.each([1, 40, 5_000_000_000, Number.MAX_SAFE_INTEGER])('may be %d', (value) => {
    expect(outcomeOf({ [limit]: value })).toEqual({ value: { [limit]: value, include: [], exclude: [] } })
  })

  it.each([
    [0, '0'],
    [-1, '-1'],
    [1.5, '1.5'],
    [NaN, 'NaN'],
    [Infinity, 'Infinity'],
    ['3', '"3"'],
    [true, 'true'],
    [[3], 'an array'],
    [2 ** 53, '9007199254740992'],
  ])('may not be %j', (value, shown) => {
    expect(faultsOf({ [limit]: value })).toEqual([`budget: \`${limit}\` must be a positive integer, got ${shown}`])
  })

  it('may not be null', () => {
    expect(faultsOf({ [limit]: null })).toEqual([`budget: \`${limit}\` must not be null: give it a value, or leave the key out`])
  })
})

const EMPTY = `budget: no limit is set, and a budget without one caps nothing: set at least one of ${LIMITS.map((limit) => `\`${limit}\``).join(', ')}`

it.each([[undefined], [null], [{}], [{ include: ['look'], exclude: [] }], [{ maxTurnMs: undefined }]])(
  '%j caps nothing, and is refused',
  (config) => {
    expect(faultsOf(config)).toEqual([EMPTY])
  },
)

it.each([
  ['a text', 'text'],
  ['a list', []],
  ['a number', 5],
])('%s is no configuration', (_what, config) => {
  expect(faultsOf(config)[0]).toMatch(/^budget: the configuration must be a map, got /)
})

it('an unknown key is refused, with the nearest one; every fault is told', () => {
  expect(faultsOf({ maxStepPerTurn: 3, maxEqualCalls: 0, include: [''], exclude: 'look', money: 5 })).toEqual([
    'budget: unknown key `maxStepPerTurn` (with the value 3), did you mean `maxStepsPerTurn`?',
    'budget: `maxEqualCalls` must be a positive integer, got 0',
    'budget: each pattern of `include` must not be empty or blank, got "" (at index 0)',
    'budget: `exclude` must be a list of patterns, got "look"',
    `budget: unknown key \`money\` (with the value 5), expected ${[...LIMITS, 'include', 'exclude'].map((key) => `\`${key}\``).join(', ')}`,
  ])
  expect(faultsOf({ maxStepPerTurn: 3 })).toEqual([
    'budget: unknown key `maxStepPerTurn` (with the value 3), did you mean `maxStepsPerTurn`?',
    EMPTY,
  ])
})

it('a faulty configuration does not load, and says why', async () => {
  await expect(createHarness({ plugins: [budget] })).rejects.toThrow('no limit is set')
  await expect(createHarness({ plugins: [[budget, { maxTurnMs: 0 }]] })).rejects.toThrow('`maxTurnMs` must be a positive integer, got 0')
})
