import { deadline } from '@loopguard/timeout'
import { HarnessError } from '@loopguard/kit'

const OWN_CLOCK_MS = 30_000

/**
 * Runs work under the caller's signal. Who gives none gets a clock of ours, so that nothing hangs for good.
 * @throws HarnessError `WEB_TIMEOUT` when that clock has run out.
 */
export async function bounded<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  if (signal !== undefined) return work(signal)
  const limit = deadline(undefined, OWN_CLOCK_MS, 'WEB_TIMEOUT')
  try {
    return await work(limit.signal)
  } catch (thrown) {
    if (limit.expiry === undefined) throw thrown
    throw new HarnessError(`no answer within ${OWN_CLOCK_MS}ms, and the request came without a signal`, 'WEB_TIMEOUT', { cause: thrown })
  } finally {
    limit[Symbol.dispose]()
  }
}

/** For work that cannot be stopped: rejects with the signal's reason when that comes first. Leaves nothing on the signal. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
