import { HarnessError, show } from '@loopguard/kit'
import type { StepPlace } from './step-place.ts'

/** Who is told what was given up on. */
export interface GivingUpParts {
  report(turn: number, step: number, error: unknown): void
}

/**
 * Reports that `what` was given up on. If it answers after all (`late` settles), that is reported, too: the answer is dropped.
 */
export function tellGivenUp(parts: GivingUpParts, { turn, step }: StepPlace, what: string, afterMs: number, late: Promise<unknown>): void {
  const since = performance.now()
  parts.report(turn, step, new HarnessError(`gave up on ${what} ${afterMs} ms after the cancel: it may still be working`, 'GAVE_UP'))
  const told = (): void => {
    const ms = afterMs + Math.round(performance.now() - since)
    parts.report(
      turn,
      step,
      new HarnessError(`${what}, given up on, ended ${ms} ms after the cancel: its answer was dropped`, 'LATE_ANSWER'),
    )
  }
  void late.then(told, told)
}

/** Node fires a timer that is longer at once. */
const LONGEST_MS = 2_147_483_647

/** @throws HarnessError `BAD_ABANDON_AFTER` */
export function checkBound(ms: unknown): void {
  if (ms === undefined || ms === Infinity || (typeof ms === 'number' && ms >= 1 && ms <= LONGEST_MS)) return
  const wanted = `a number of milliseconds from 1 to ${LONGEST_MS}, or Infinity`
  throw new HarnessError(`agent-loop: \`abandonAfterMs\` must be ${wanted}, got ${show(ms)}`, 'BAD_ABANDON_AFTER')
}
