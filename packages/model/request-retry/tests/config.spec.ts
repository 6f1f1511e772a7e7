import { Config } from '@loopguard/request-retry'
import { expect, it } from 'vitest'

interface Outcome {
  readonly value?: unknown
  readonly issues?: readonly { readonly message: string; readonly path?: readonly PropertyKey[] }[]
}

const outcomeOf = (config: unknown): Outcome => Config['~standard'].validate(config) as Outcome

it('has defaults', () => {
  expect(outcomeOf(undefined).value).toEqual({ maxRetries: 5, baseDelayMs: 500, maxDelayMs: 10_000, maxRetryAfterMs: 60_000 })
  expect(outcomeOf({ maxRetries: 0, codes: [] }).value).toMatchObject({ maxRetries: 0, codes: [] })
})

it.each<[unknown, RegExp]>([
  [{ maxRetries: -1 }, /maxRetries/],
  [{ maxRetries: 1.5 }, /maxRetries/],
  [{ maxRetries: null }, /`maxRetries` is null/],
  [{ baseDelayMs: 0 }, /baseDelayMs/],
  [{ baseDelayMs: 2_147_483_647 }, /baseDelayMs/],
  [{ maxDelayMs: 0.5 }, /maxDelayMs/],
  [{ maxRetryAfterMs: '1s' }, /maxRetryAfterMs/],
  [{ codes: 'TIMEOUT' }, /codes/],
  [{ codes: [5] }, /codes/],
  [{ maxRetry: 3 }, /unknown key `maxRetry`.*`maxRetries`/],
  [[], /must be a map/],
])('refuses %j, and says what is wrong', (config, said) => {
  const { issues = [] } = outcomeOf(config)
  expect(issues.map(({ message, path = [] }) => `${path.join('.')} ${message}`).join()).toMatch(said)
})
