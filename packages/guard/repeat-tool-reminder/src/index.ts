import type { Context } from '@deepseek-ai/cordis'
import { advise, outcomeOf } from '@loopguard/advisory'
import { createRepeatTracker } from '@loopguard/repeat'
import { type Config, name } from './config.ts'

export { Config, name } from './config.ts'

/** The guard listens to events alone: it needs no service. */
export const inject: string[] = []

/**
 * Counts the equal calls that each agent makes in a row, and reminds the model at each threshold. It vetoes, delays and changes nothing; a
 * fault of its own is logged at error level.
 *
 * @throws TypeError `REPEAT_TOOL_REMINDER_CONFIG` that lists every fault of `config`. Cordis, which asks {@link Config} first, never
 * comes to it.
 */
export function apply(ctx: Context, config?: Config): void {
  const tracker = createRepeatTracker(config ?? {})
  const comparesResults = config?.results === 'unchanged'
  advise(ctx, name, {
    count: ({ agent, name: tool, args, result }) => tracker.observe(agent, tool, args, comparesResults ? outcomeOf(result) : undefined),
    startAfresh: (agent) => tracker.reset(agent),
  })
}
