import { z } from 'zod'

/** Milliseconds that the tool `hang` has. */
export const BUDGET = 100

export const schemas = {
  look: z.object({ path: z.string(), line: z.number() }),
  broken: z.object({}),
  hang: z.object({}),
  tick: z.object({}),
}

export const look = (): string => 'the same'

let ticks = 0

export const tick = (): string => `line ${++ticks}`

export function broken(): string {
  throw new Error('no')
}

let isSettled = true

/** Whether the last `hang` has come to its end. */
export const hangIsSettled = (): boolean => isSettled

/** Succeeds a while after its time is up. */
export function hang(signal: AbortSignal | undefined): Promise<string> {
  isSettled = false
  return new Promise((resolve) => {
    const end = (): void => {
      isSettled = true
      resolve('a late success')
    }
    signal?.addEventListener('abort', () => setTimeout(end, 30))
  })
}
