import z from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'

/** How the plugin is set. Times are in milliseconds. */
export interface Config {
  /** How often one step asks again, an integer >= 0. Default 5. */
  readonly maxRetries: number
  /** The wait before the first retry; it doubles with each. Default 500. */
  readonly baseDelayMs: number
  /** The longest wait that doubling leads to. Default 10000. */
  readonly maxDelayMs: number
  /** A provider that asks for a longer wait than this is not asked again. Default 60000. */
  readonly maxRetryAfterMs: number
  /** The failure codes to retry, in place of what failures say of themselves. Default none. */
  readonly codes?: readonly string[]
}

// The wait may be a tenth longer, and must fit a timer.
const MAX_MS = 1_900_000_000

const milliseconds = (): z<number> => z.natural().min(1).max(MAX_MS)

const schema = z.object({
  maxRetries: z.natural().default(5).description('How often one step asks again.'),
  baseDelayMs: milliseconds().default(500).description('The wait before the first retry; it doubles with each.'),
  maxDelayMs: milliseconds().default(10_000).description('The longest wait that doubling leads to.'),
  maxRetryAfterMs: milliseconds().default(60_000).description('A provider that asks for a longer wait is not asked again.'),
  // Without a default of its own schemastery makes an empty list of it, which would mean to retry nothing.
  codes: z.union([z.array(z.string()), z.const(undefined as never)]).description('The failure codes to retry.'),
}) as unknown as z<Partial<Config>, Config>

export const Config: z<Partial<Config>, Config> = strictConfig('request-retry', schema, [
  'maxRetries',
  'baseDelayMs',
  'maxDelayMs',
  'maxRetryAfterMs',
  'codes',
])
