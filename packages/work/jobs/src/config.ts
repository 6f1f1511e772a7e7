import z from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'
import { MAX_TIMER_DELAY_MS } from '@loopguard/timeout'

/** How the service is set. */
export interface Config {
  /** How many jobs of one owner may run at once, an integer >= 1. Default 10. */
  readonly maxConcurrentJobsPerOwner: number
}

export const Config: z<Partial<Config>, Config> = strictConfig(
  'jobs',
  z.object({ maxConcurrentJobsPerOwner: z.natural().min(1).default(10) }) as z<Partial<Config>, Config>,
  ['maxConcurrentJobsPerOwner'],
)

/** How the tools and the notices are set. */
export interface ToolsConfig {
  /** How long `job_output` waits that does not say. Default 30000. */
  readonly waitTimeoutMs: number
  /** The longest that it waits; more is clamped in silence. Default 600000 (10 min). */
  readonly maxWaitTimeoutMs: number
  /** How often notices may wake an idle agent after the last message of a user. Default 3. */
  readonly maxConsecutiveWakes: number
}

const milliseconds = (): z<number> => z.natural().min(1).max(MAX_TIMER_DELAY_MS)

export const ToolsConfig: z<Partial<ToolsConfig>, ToolsConfig> = strictConfig(
  'jobs/tools',
  z.object({
    waitTimeoutMs: milliseconds().default(30_000),
    maxWaitTimeoutMs: milliseconds().default(600_000),
    maxConsecutiveWakes: z.natural().default(3),
  }) as z<Partial<ToolsConfig>, ToolsConfig>,
  ['waitTimeoutMs', 'maxWaitTimeoutMs', 'maxConsecutiveWakes'],
)
