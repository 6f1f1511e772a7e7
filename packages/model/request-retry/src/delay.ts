import type { LlmFailure } from '@loopguard/llm'
import type { Config } from './config.ts'

/** Whether a failure may pass: by its code, when codes are configured, else by what it says of itself. */
export function isRetryable({ code, retryable }: LlmFailure, { codes }: Pick<Config, 'codes'>): boolean {
  return codes === undefined ? retryable === true : codes.includes(code)
}

/**
 * How long to wait before retry number `retry`, counted from 1, in whole milliseconds; `undefined` when the provider asks for more than
 * it is given. `random` is in 0 to 1.
 */
export function delayOf(
  { retryAfterMs }: LlmFailure,
  retry: number,
  config: Pick<Config, 'baseDelayMs' | 'maxDelayMs' | 'maxRetryAfterMs'>,
  random: number,
): number | undefined {
  if (retryAfterMs !== undefined && retryAfterMs >= 0) return retryAfterMs <= config.maxRetryAfterMs ? Math.ceil(retryAfterMs) : undefined
  const delay = Math.min(config.baseDelayMs * 2 ** (retry - 1), config.maxDelayMs)
  return Math.round(delay * (0.9 + 0.2 * random))
}
