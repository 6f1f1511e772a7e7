import z from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'

/** How the plugin is set. */
export interface Config {
  /** Whether more than one item may be `in_progress`. Default `false`. */
  readonly allowParallelInProgress: boolean
}

const schema = z.object({
  allowParallelInProgress: z.boolean().default(false).description('Whether more than one item may be in progress.'),
}) as z<Partial<Config>, Config>

export const Config: z<Partial<Config>, Config> = strictConfig('todo', schema, ['allowParallelInProgress'])
