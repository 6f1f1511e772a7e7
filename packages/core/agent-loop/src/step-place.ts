import type { Patience } from './patience.ts'

/** Which step this is, and the signal of its turn. */
export interface StepPlace {
  readonly turn: number
  readonly step: number
  readonly signal: AbortSignal
  /** For what does not stop when the signal aborts. */
  readonly patience: Patience
}
