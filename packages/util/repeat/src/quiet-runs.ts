import type { Chain } from './chain.ts'
import { type RepeatConfig, settingsOf } from './config.ts'
import { callIdentity } from './identity.ts'
import type { Outcome } from './outcome.ts'
import { Runs } from './tracker.ts'

/** The calls that the model made in one step, in its order. */
export interface StepCalls {
  readonly calls: readonly { readonly name: string; readonly args: unknown }[]
}

interface Counted {
  readonly runs: Runs
  readonly first: number
}

/** Counts as the reminders of repeated calls do that stand beside this one, to say nothing of what they speak of. */
export class QuietRuns {
  private readonly configs: () => readonly RepeatConfig[]
  /** Of each agent, what its runs are kept under: another object after each reset. */
  private readonly lives = new WeakMap<object, object>()
  private readonly byConfig = new WeakMap<RepeatConfig, Counted>()
  /** Of the last step in which a run came to its first threshold, the calls of such runs. */
  private readonly loud = new WeakMap<object, { readonly step: StepCalls; readonly identities: Set<string> }>()

  constructor(configs: () => readonly RepeatConfig[]) {
    this.configs = configs
  }

  /** Counts a call. The answer tells whether another reminder speaks of it, now or in this step. */
  count(agent: object, name: string, args: unknown, outcome: Outcome, step: StepCalls | undefined): () => boolean {
    let missing = Infinity
    for (const config of this.configs()) {
      const { runs, first } = this.countedBy(config)
      const run = runs.count(this.lifeOf(agent), name, args, outcome)
      if (run > 0) missing = Math.min(missing, first - run)
    }
    if (missing <= 0 && step !== undefined) this.loudIn(agent, step).add(callIdentity(name, args))
    return () => missing <= 0 || (step !== undefined && this.isLoudIn(agent, step, callIdentity(name, args), missing))
  }

  forget(agent: object): void {
    this.lives.delete(agent)
  }

  save(agent: object): Chain | undefined {
    const [config] = this.configs()
    return config && this.countedBy(config).runs.chains.save(this.lifeOf(agent))
  }

  /** @throws TypeError `REPEAT_BAD_CHAIN` */
  load(agent: object, run: Chain | undefined): void {
    const [config] = this.configs()
    if (config === undefined) return
    this.lives.delete(agent)
    if (run !== undefined) this.countedBy(config).runs.chains.load(this.lifeOf(agent), run)
  }

  private lifeOf(agent: object): object {
    const known = this.lives.get(agent)
    if (known !== undefined) return known
    const life = {}
    this.lives.set(agent, life)
    return life
  }

  private countedBy(config: RepeatConfig): Counted {
    const known = this.byConfig.get(config)
    if (known !== undefined) return known
    const settings = settingsOf(config)
    const made = { runs: new Runs(settings), first: settings.first }
    this.byConfig.set(config, made)
    return made
  }

  private loudIn(agent: object, step: StepCalls): Set<string> {
    const known = this.loud.get(agent)
    if (known?.step === step) return known.identities
    const identities = new Set<string>()
    this.loud.set(agent, { step, identities })
    return identities
  }

  /** Whether a run of the call has come to a first threshold in this step, or may yet do so: what is called again may be in a row. */
  private isLoudIn(agent: object, step: StepCalls, identity: string, missing: number): boolean {
    const { step: last, identities } = this.loud.get(agent) ?? {}
    if (last === step && identities?.has(identity) === true) return true
    const others = step.calls.filter((call) => callIdentity(call.name, call.args) === identity).length - 1
    return others >= missing
  }
}
