/**
 * Plugin with the tools of background jobs, and the notices of their ends.
 * @packageDocumentation
 */

import type { Context } from '@deepseek-ai/cordis'
import type z from '@deepseek-ai/schemastery'
import { ToolsConfig } from './config.ts'
import { jobKill, jobList, jobOutput } from './job-tools.ts'
import { openDesks } from './notices.ts'

/** The plugin's name in a composition. */
export const name = 'jobs-tools'

export const inject: string[] = ['jobs', 'tools']

export type Config = ToolsConfig
export const Config: z<Partial<ToolsConfig>, ToolsConfig> = ToolsConfig

/**
 * Registers `job_output`, `job_list` and `job_kill`, and tells each agent of the ends of its jobs. None declares a `timeoutMs`: the wait
 * of `job_output` has a clock of its own, and one that runs out is no failure.
 */
export function apply(ctx: Context, config: ToolsConfig): void {
  const { jobs, tools } = ctx
  const deskOf = openDesks(ctx, config.maxConsecutiveWakes)
  tools.register(jobOutput({ jobs, config, deskOf }))
  tools.register(jobList({ jobs, config, deskOf }))
  tools.register(jobKill({ jobs, config, deskOf }))
}
