import z from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'

/** How the tool is set. */
export interface Config {
  /** How many rounds one call may take, an integer >= 1. Default 256. */
  readonly maxRounds: number
  /** How long a report may be, as the next round reads it, in characters. Default 16384. */
  readonly maxHandoffChars: number
}

const schema = z.object({
  maxRounds: z.natural().min(1).default(256).description('How many rounds one call may take.'),
  maxHandoffChars: z.natural().min(1).default(16_384).description('How long a report may be, as the next round reads it.'),
}) as z<Partial<Config>, Config>

export const Config: z<Partial<Config>, Config> = strictConfig('ralph', schema, ['maxRounds', 'maxHandoffChars'])
