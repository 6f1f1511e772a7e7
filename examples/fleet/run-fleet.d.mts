export interface FleetOptions {
  readonly agents: number
  /** For each agent. */
  readonly messages: number
  /** How often the worker with the most open turns is killed (SIGKILL). It is replaced at once. */
  readonly kills?: number
  /** How long it is until the first kill, and from one to the next. Default 1500. */
  readonly everyMs?: number
  /** How long the worker with the most open turns is stopped (SIGSTOP). */
  readonly stopMs?: number
  /** How long the database is away. */
  readonly outageMs?: number
  /** A safeguard that is taken out. */
  readonly without?: 'barriers' | 'fencing' | 'orphans'
  /** About how long the model takes for an answer. Default 50. */
  readonly modelMs?: number
  readonly leaseMs?: number
  /** Whether workers run from `lib`. */
  readonly built?: boolean
  readonly giveUpMs?: number
  /** Of the server. */
  readonly settings?: readonly string[]
}

export interface FleetResult {
  readonly agents: number
  readonly events: number
  readonly effects: number
  /** Events whose number is not their place. */
  readonly gaps: number
  readonly missing: number
  readonly doubled: number
  readonly effectsTwice: number
  readonly effectsNotInLog: number
  readonly unanswered: number
  readonly pending: number
  /** Turns that a dead worker left open. */
  readonly interrupted: number
  readonly outcomeUnknown: number
  /** Sessions that a living worker found to be another's. */
  readonly lost: number
  readonly seconds: number
  readonly eventsPerSecond: number
  /** After each kill or stop, how long it was until each open turn was another worker's, in milliseconds, sorted. */
  readonly takeovers: readonly (readonly number[])[]
  readonly codes: readonly (number | null)[]
  readonly said: readonly string[]
}

export function runFleet(options: FleetOptions): Promise<FleetResult>
