import { HarnessError, show } from '@loopguard/kit'
import type { StreamChunk } from '@loopguard/llm'
import type { Patience } from './patience.ts'
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

/** The chunks until patience is over; then there are no more, and `gaveUp` gets the promise of the one that was waited for. */
export function untilOver(
  stream: AsyncIterable<StreamChunk>,
  patience: Patience,
  gaveUp: (afterMs: number, late: Promise<unknown>) => void,
): AsyncIterable<StreamChunk> {
  const END: IteratorResult<StreamChunk, undefined> = { done: true, value: undefined }
  return {
    [Symbol.asyncIterator]() {
      const source = stream[Symbol.asyncIterator]()
      return {
        next() {
          const demand = source.next()
          return patience.within(demand, (afterMs) => {
            // It takes effect when the source wakes up, if ever.
            source.return?.().catch(() => {})
            gaveUp(afterMs, demand)
            return END
          })
        },
        return: () => source.return?.() ?? Promise.resolve(END),
      }
    },
  }
}

/** Node fires a timer that is longer at once. */
const LONGEST_MS = 2_147_483_647

/** @throws HarnessError `BAD_ABANDON_AFTER` */
export function checkBound(ms: unknown): void {
  if (ms === undefined || ms === Infinity || (typeof ms === 'number' && ms >= 1 && ms <= LONGEST_MS)) return
  const wanted = `a number of milliseconds from 1 to ${LONGEST_MS}, or Infinity`
  throw new HarnessError(`agent-loop: \`abandonAfterMs\` must be ${wanted}, got ${show(ms)}`, 'BAD_ABANDON_AFTER')
}
