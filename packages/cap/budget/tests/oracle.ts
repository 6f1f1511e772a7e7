import type { Config, Limit } from '@loopguard/budget'

/** What a scripted call is: a tool that is excluded, one that fails, … */
export type CallKind = 'look' | 'other' | 'note' | 'fails' | 'nowhere' | 'malformed' | 'secret' | 'outer'

export interface PlannedStep {
  /** Attempts that fail before the answer comes. */
  readonly failed: number
  readonly calls: readonly CallKind[]
  readonly tokens: number
}

export interface PlannedTurn {
  readonly from: 'user' | 'plugin'
  /** The cap is unloaded and loaded again before the turn. */
  readonly reload: boolean
  /** Then the model says something and calls nothing. */
  readonly steps: readonly PlannedStep[]
}

export interface Outcome {
  readonly requests: number
  readonly reached: string[]
  /** Of each call: `ran`, or the limit that denied it. */
  readonly calls: string[]
  readonly ends: string[]
}

const BEFORE_STEP: readonly Limit[] = ['maxStepsPerTurn', 'maxTokensPerTurn', 'maxStepsPerAgent', 'maxTokensPerAgent']
const BEFORE_CALL: readonly Limit[] = ['maxCallsPerTurn', 'maxCallsPerAgent', 'maxEqualCalls']

/** What the loop comes to under a cap, told without a loop. `note` is excluded. */
export function outcomeOf(config: Config, turns: readonly PlannedTurn[]): Outcome {
  const outcome: Outcome = { requests: 0, reached: [], calls: [], ends: [] }
  const used = new Map<string, number>()
  const told = new Set<string>()
  const use = (what: 'Steps' | 'Calls' | 'Tokens', count: number): void => {
    for (const per of ['Turn', 'Agent']) used.set(`max${what}Per${per}`, (used.get(`max${what}Per${per}`) ?? 0) + count)
  }
  const isReached = (limit: Limit): boolean => (used.get(limit) ?? 0) >= (config[limit] ?? Infinity)
  let requests = 0
  let last = ''
  let run = 0
  turns.forEach((turn, index) => {
    for (const key of used.keys()) if (key.endsWith('Turn')) used.delete(key)
    if (turn.from === 'user' || turn.reload) last = ''
    const tell = (step: number, limits: readonly Limit[]): void => {
      for (const limit of limits) {
        const id = limit.endsWith('Agent') ? limit : `${limit} ${index}`
        if (!told.has(id)) outcome.reached.push(`${index + 1}.${step} ${limit} ${config[limit]}`)
        told.add(id)
      }
    }
    for (const [at, step] of [...turn.steps, { failed: 0, calls: [], tokens: 0 } satisfies PlannedStep].entries()) {
      const stopping = BEFORE_STEP.filter(isReached)
      tell(at + 1, stopping)
      if (stopping.length > 0) return void outcome.ends.push('blocked')
      requests += step.failed + 1
      use('Steps', 1)
      use('Tokens', step.tokens)
      for (const call of step.calls) {
        if (call === 'note') {
          outcome.calls.push('ran')
          continue
        }
        run = call === last ? run + 1 : 1
        last = call
        const denying = BEFORE_CALL.filter((limit) =>
          limit === 'maxEqualCalls' ? run > (config.maxEqualCalls ?? Infinity) : isReached(limit),
        )
        tell(at + 1, denying)
        outcome.calls.push(denying[0] ?? 'ran')
        use('Calls', 1)
      }
    }
    outcome.ends.push('completed')
  })
  return { ...outcome, requests }
}
