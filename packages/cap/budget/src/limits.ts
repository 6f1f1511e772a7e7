/** What a limit counts. Times are in milliseconds. */
type Counted = 'steps' | 'tokens' | 'ms' | 'calls' | 'equal calls'

/** The keys of the limits. */
export type Limit =
  | 'maxStepsPerTurn'
  | 'maxTokensPerTurn'
  | 'maxTurnMs'
  | 'maxStepsPerAgent'
  | 'maxTokensPerAgent'
  | 'maxAgentMs'
  | 'maxCallsPerTurn'
  | 'maxCallsPerAgent'
  | 'maxEqualCalls'

export interface Rule {
  readonly counts: Counted
  /** Where the count starts afresh, and how often it is logged that the limit was reached. A run of equal calls crosses turns. */
  readonly per: 'turn' | 'agent'
}

/** In the order in which they are named when several are reached at once. */
export const RULES: Readonly<Record<Limit, Rule>> = {
  maxStepsPerTurn: { counts: 'steps', per: 'turn' },
  maxTokensPerTurn: { counts: 'tokens', per: 'turn' },
  maxTurnMs: { counts: 'ms', per: 'turn' },
  maxStepsPerAgent: { counts: 'steps', per: 'agent' },
  maxTokensPerAgent: { counts: 'tokens', per: 'agent' },
  maxAgentMs: { counts: 'ms', per: 'agent' },
  maxCallsPerTurn: { counts: 'calls', per: 'turn' },
  maxCallsPerAgent: { counts: 'calls', per: 'agent' },
  maxEqualCalls: { counts: 'equal calls', per: 'turn' },
}

export const LIMITS: readonly Limit[] = Object.keys(RULES) as Limit[]

/** A limit that is set. */
export interface SetLimit extends Rule {
  readonly limit: Limit
  readonly value: number
}
