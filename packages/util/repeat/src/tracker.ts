import { type Chain, Chains } from './chain.ts'
import { type RepeatConfig, type Settings, settingsOf } from './config.ts'
import { keyOf } from './identity.ts'
import { type Outcome, outcomeIdentity } from './outcome.ts'
import { detailed, GENTLE } from './text.ts'

/** Counts the equal calls that each agent makes in a row. An agent is any object; what is kept goes with it. */
export interface RepeatTracker {
  /**
   * Counts a call, in the order in which the model made them, whatever became of it.
   *
   * @param outcome - what it came to. Under `results: 'unchanged'` one that differs from that of the call before begins a new run; a call
   * without one counts as under `'any'`.
   * @returns the reminder that is due after the results of this step: a message of its own, that the model reads with its next request.
   * @throws what reading the arguments throws, which JSON never does; the agent's run is over then.
   */
  observe(agent: object, name: string, args: unknown, outcome?: Outcome): string | undefined
  /** The user has spoken, or the agent starts afresh: its run is over. */
  reset(agent: object): void
  /** For hosts whose steps are processes: digests and a number, of which no argument and no result can be read. */
  save(agent: object): Chain | undefined
  /** @throws TypeError `REPEAT_BAD_CHAIN` for what is no saved chain. */
  load(agent: object, chain: Chain): void
}

/** @throws TypeError `REPEAT_TOOL_REMINDER_CONFIG` that lists every fault of `config`, one a line. */
export function createRepeatTracker(config: RepeatConfig = {}): RepeatTracker {
  return trackerWith(settingsOf(config))
}

export function trackerWith(settings: Settings): RepeatTracker {
  const { thresholds, first, previewChars } = settings
  const runs = new Runs(settings)
  return {
    observe(agent, name, args, outcome) {
      const run = runs.count(agent, name, args, outcome)
      if (!thresholds.has(run)) return undefined
      return run === first ? GENTLE : detailed(name, args, run, previewChars)
    },
    reset: (agent) => runs.chains.forget(agent),
    save: (agent) => runs.chains.save(agent),
    load: (agent, chain) => runs.chains.load(agent, chain),
  }
}

/** The chains under one configuration. */
export class Runs {
  readonly chains: Chains = new Chains()
  private readonly settings: Settings

  constructor(settings: Settings) {
    this.settings = settings
  }

  /** How many calls like it there have been in a row; 0 of a tool whose calls do not count. */
  count(agent: object, name: string, args: unknown, outcome: Outcome | undefined): number {
    const { tracks, comparesResults } = this.settings
    if (!tracks(name)) return 0
    try {
      return this.chains.count(agent, keyOf(name, args), comparesResults && outcome !== undefined ? outcomeIdentity(outcome) : undefined)
    } catch (thrown) {
      // Whatever call that was, it was not seen to be the last one again.
      this.chains.forget(agent)
      throw thrown
    }
  }
}
