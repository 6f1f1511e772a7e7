import type { Context } from '@deepseek-ai/cordis'
import z from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'
import { httpSearch } from './http/search.ts'
import type {} from './service.ts'

/** The plugin's name in a composition. */
export const name = 'web-search-http'

export const inject: string[] = ['web']

export interface Config {
  /** Where the queries are posted: an absolute http or https URL without credentials. */
  readonly endpoint: string
  /** Name of the environment variable that holds the key; without it no key is sent. */
  readonly apiKeyEnv?: string
}

const schema = z.object({
  endpoint: z.string().required().description('Where the queries are posted.'),
  apiKeyEnv: z.string().description('Environment variable that holds the key.'),
}) as unknown as z<Config>

export const Config: z<Config> = strictConfig('web-search-http', schema, ['endpoint', 'apiKeyEnv'])

/**
 * Registers the search provider `http`.
 * @throws HarnessError `WEB_BLOCKED_URL` for an endpoint that is no usable URL.
 */
export function apply(ctx: Context, { endpoint, apiKeyEnv }: Config): void {
  ctx.web.registerSearch(httpSearch(endpoint, () => (apiKeyEnv === undefined ? '' : process.env[apiKeyEnv])))
}
