import z from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'

/** Which provider does what, where more than one is available. */
export interface Config {
  /** Id of the provider that fetches. Default: the only one that is available. */
  readonly fetchProvider?: string
  /** Id of the provider that searches. Default: the only one that is available. */
  readonly searchProvider?: string
}

const schema = z.object({
  fetchProvider: z.string().description('Id of the provider that fetches, if there are several.'),
  searchProvider: z.string().description('Id of the provider that searches, if there are several.'),
}) as unknown as z<Config>

export const Config: z<Config> = strictConfig('web', schema, ['fetchProvider', 'searchProvider'])
