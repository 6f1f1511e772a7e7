import z from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'

/** How the service is set. Both are ceilings: what a run asks for above them is refused. */
export interface Config {
  /** How many agents one run may make, those of runs inside it included, an integer >= 1. Default 1000. */
  readonly maxTotalAgents: number
  /** How many of them work at once, an integer >= 1; the others wait their turn. Default 8. */
  readonly maxConcurrentAgents: number
}

const schema = z.object({
  maxTotalAgents: z.natural().min(1).default(1000).description('How many agents one run may make.'),
  maxConcurrentAgents: z.natural().min(1).default(8).description('How many of them work at once.'),
}) as z<Partial<Config>, Config>

export const Config: z<Partial<Config>, Config> = strictConfig('workflow', schema, ['maxTotalAgents', 'maxConcurrentAgents'])
