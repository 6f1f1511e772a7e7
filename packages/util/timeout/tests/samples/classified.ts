import { clampTimeout, timeoutOf } from '@loopguard/timeout'

/** A caller may ask for `wait_ms`, and gets at most a minute. */
export function budgetOf(args: { wait_ms?: number }): number {
  return clampTimeout(args.wait_ms, 10_000, 60_000, 'wait_ms')
}

/** Timed out, cancelled and failed are three facts. */
export function outcomeOf(error: unknown, signal: AbortSignal): string {
  const timeout = timeoutOf(signal, 'READ_TIMEOUT')
  if (timeout) return `timed out after ${timeout.timeoutMs}ms`
  return signal.aborted ? 'cancelled' : `failed: ${String(error)}`
}
