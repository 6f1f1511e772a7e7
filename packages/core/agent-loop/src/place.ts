/** Which step this is, and the signal of its turn. */
export interface StepPlace {
  readonly turn: number
  readonly step: number
  readonly signal: AbortSignal
}
