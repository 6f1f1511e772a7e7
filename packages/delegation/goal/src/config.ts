import z from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'

/** How the plugin is set. */
export interface Config {
  /**
   * How many rounds a goal may have at most, and how many of all goals of an agent may follow one another without a message of a user, an
   * integer >= 1. Default 256.
   */
  readonly maxRounds: number
}

const schema = z.object({
  maxRounds: z.natural().min(1).default(256).description('How many rounds a goal may have at most.'),
}) as z<Partial<Config>, Config>

export const Config: z<Partial<Config>, Config> = strictConfig('goal', schema, ['maxRounds'])
