import { type Chain, Chains } from './chain.ts'
import { type RepeatConfig, type Settings, settingsOf } from './config.ts'
import { keyOf } from './identity.ts'
import { detailed, GENTLE } from './text.ts'

/** Counts the equal calls that each agent makes in a row. An agent is any object; what is kept goes with it. */
export interface RepeatTracker {
  /**
   * Counts a call, in the order in which the model made them, whatever became of it.
   *
   * @returns the reminder that is due after the results of this step: a message of its own, that the model reads with its next request.
   * @throws what reading the arguments throws, which JSON never does; the agent's run is over then.
   */
  observe(agent: object, name: string, args: unknown): string | undefined
  /** The user has spoken, or the agent starts afresh: its run is over. */
  reset(agent: object): void
  /** For hosts whose steps are processes: a digest and a number, of which no argument can be read. */
  save(agent: object): Chain | undefined
  /** @throws TypeError `REPEAT_BAD_CHAIN` for what is no saved chain. */
  load(agent: object, chain: Chain): void
}

/** @throws TypeError `REPEAT_TOOL_REMINDER_CONFIG` that lists every fault of `config`, one a line. */
export function createRepeatTracker(config: RepeatConfig = {}): RepeatTracker {
  return trackerWith(settingsOf(config))
}

export function trackerWith({ tracks, thresholds, first, previewChars }: Settings): RepeatTracker {
  const chains = new Chains()
  return {
    observe(agent, name, args) {
      if (!tracks(name)) return undefined
      let key: string
      try {
        key = keyOf(name, args)
      } catch (thrown) {
        // Whatever call that was, it was not seen to be the last one again.
        chains.forget(agent)
        throw thrown
      }
      const run = chains.count(agent, key)
      if (!thresholds.has(run)) return undefined
      return run === first ? GENTLE : detailed(name, args, run, previewChars)
    },
    reset: (agent) => chains.forget(agent),
    save: (agent) => chains.save(agent),
    load: (agent, chain) => chains.load(agent, chain),
  }
}
