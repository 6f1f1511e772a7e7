import type { Context } from '@deepseek-ai/cordis'
import { advise, outcomeOf, watchSteps } from '@loopguard/advisory'
import { createFailureTracker, type RepeatConfig } from '@loopguard/repeat'
import { remindersBeside } from './beside.ts'
import { type Config, name } from './config.ts'

export { Config, name } from './config.ts'

/** The guard listens to events alone: it needs no service. */
export const inject: string[] = []

/**
 * Counts, for each agent and since its user spoke, how often one call has failed with one error, and reminds the model at each threshold;
 * not while a repeat-tool-reminder speaks of that call. It vetoes, delays and changes nothing; a fault of its own is logged at error level.
 *
 * @throws TypeError `REPEATED_FAILURE_REMINDER_CONFIG` that lists every fault of `config`. Cordis, which asks {@link Config} first, never
 * comes to it.
 */
export function apply(ctx: Context, config?: Config): void {
  let quiet: readonly RepeatConfig[] = []
  const tracker = createFailureTracker(config ?? {}, { quiet: () => quiet })
  const beside = remindersBeside(ctx)
  const steps = watchSteps(ctx)
  advise(ctx, name, {
    count({ agent, name: tool, args, result, carrier }) {
      quiet = beside(carrier)
      const outcome = outcomeOf(result) ?? { isError: false, text: '' }
      return tracker.observe(agent, tool, args, outcome, steps(agent))
    },
    startAfresh(agent) {
      tracker.reset(agent)
    },
  })
}
