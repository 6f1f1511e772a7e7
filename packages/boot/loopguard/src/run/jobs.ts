/** What the command knows of background jobs. As with agents, it finds the service by name, and imports none. */

import type { Context } from '@deepseek-ai/cordis'
import { quiescence } from './agents.ts'

export interface Job {
  readonly id: string
  readonly kind: string
  readonly label: string
  /** Id of the agent whose job it is. */
  readonly owner: string
}

interface Jobs {
  running(): readonly Job[]
  whenIdle(counts: (job: Job) => boolean): Promise<void>
}

/** The jobs that run. */
export function runningJobs(ctx: Context): readonly Job[] {
  return jobsOf(ctx)?.running() ?? []
}

/** Waits until every agent is idle, and no job runs that the run waits for. */
export async function workDone(ctx: Context, withAllJobs: boolean): Promise<void> {
  do await quiescence(ctx)
  while (await jobsDone(ctx, withAllJobs))
}

/**
 * Waits until no job runs that a run waits for: a child agent always, since its parent is owed what it found; any other when `all` is
 * wanted. An owner is told of an end before this settles. Says whether there was something to wait for.
 */
async function jobsDone(ctx: Context, all: boolean): Promise<boolean> {
  const counts = ({ kind }: Job): boolean => all || kind === 'subagent'
  const jobs = jobsOf(ctx)
  if (jobs?.running().some(counts) !== true) return false
  await jobs.whenIdle(counts)
  return true
}

function jobsOf(ctx: Context): Jobs | undefined {
  return ctx.get('jobs') as Jobs | undefined
}
