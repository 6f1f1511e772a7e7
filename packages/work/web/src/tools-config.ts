import z from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'
import { MAX_TIMER_DELAY_MS } from '@loopguard/timeout'

/** How the two tools are set. */
export interface Config {
  /** Budget of a call of `web_fetch` in milliseconds, for timeout-policy. Default 30000. */
  readonly fetchTimeoutMs: number
  /** Budget of a call of `web_search` in milliseconds, for timeout-policy. Default 30000. */
  readonly searchTimeoutMs: number
  /** How many characters of a page the model reads. Default 200000. */
  readonly fetchMaxOutputChars: number
  /** How many hits a call of `web_search` shows, all its queries together. Default 8. */
  readonly searchMaxResults: number
  /** How many queries a call of `web_search` may hold. Default 4. */
  readonly searchMaxQueries: number
  /** Whether `web_fetch` is there. Default `true`. */
  readonly fetch: boolean
  /** Whether `web_search` is there. Default `true`. */
  readonly search: boolean
}

const fields = {
  fetchTimeoutMs: z.natural().min(1).max(MAX_TIMER_DELAY_MS).default(30_000).description('Budget of web_fetch, in milliseconds.'),
  searchTimeoutMs: z.natural().min(1).max(MAX_TIMER_DELAY_MS).default(30_000).description('Budget of web_search, in milliseconds.'),
  fetchMaxOutputChars: z.natural().min(1).default(200_000).description('Characters of a page that the model reads.'),
  searchMaxResults: z.natural().min(1).default(8).description('Hits of a call, all queries together.'),
  searchMaxQueries: z.natural().min(1).default(4).description('Queries that a call may hold.'),
  fetch: z.boolean().default(true).description('Whether web_fetch is there.'),
  search: z.boolean().default(true).description('Whether web_search is there.'),
}

export const Config: z<Partial<Config>, Config> = strictConfig(
  'web-tools',
  z.object(fields) as z<Partial<Config>, Config>,
  Object.keys(fields),
)
