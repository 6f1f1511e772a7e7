import z from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'

/** What the agent of a new session is made with. */
export interface Config {
  /** Who serves the model: the name under which a row has registered it. */
  readonly provider: string
  readonly model: string
  readonly system?: string
  /** An integer >= 1. */
  readonly maxTokens?: number
}

const KEYS = ['provider', 'model', 'system', 'maxTokens']

export const Config: z<Partial<Config>, Config> = strictConfig(
  'acp',
  z.object({
    provider: z.string().required(),
    model: z.string().required(),
    system: z.string(),
    maxTokens: z.natural().min(1).max(Number.MAX_SAFE_INTEGER),
  }) as z<Partial<Config>, Config>,
  KEYS,
  {
    check: (config) =>
      ['provider', 'model'].flatMap((key) => {
        const value = config[key]
        return typeof value === 'string' && value.trim() === '' ? [`\`${key}\` must be non-blank text, got ${JSON.stringify(value)}`] : []
      }),
  },
)
