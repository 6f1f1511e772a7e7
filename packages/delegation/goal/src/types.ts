/** `active` goals are worked on in rounds; the others wait, or are over. */
export type GoalPhase = 'active' | 'paused' | 'blocked' | 'complete'

/** What an agent works on. */
export interface Goal {
  /** `goal-<n>`, counted for each session. */
  readonly id: string
  readonly objective: string
  readonly maxRounds: number
  readonly phase: GoalPhase
  /** Why it is in this phase, when that was said. */
  readonly reason?: string
  /** How many rounds stand in the log. */
  readonly rounds: number
}

declare module '@loopguard/llm' {
  interface MessageSourceMap {
    /** The driver sends a round. Rounds of a goal count from 1. */
    goal: { readonly kind: 'goal'; readonly goalId: string; readonly round: number }
  }
}

declare module '@loopguard/session' {
  interface SessionEventMap {
    /** A goal is set, and active. */
    'goal/create': { readonly id: string; readonly objective: string; readonly maxRounds: number }
    /** It has another phase: the model says so, or the driver (`round-limit`, `resumed`, or how a turn ended). */
    'goal/update': { readonly id: string; readonly phase: GoalPhase; readonly reason?: string }
  }
}
