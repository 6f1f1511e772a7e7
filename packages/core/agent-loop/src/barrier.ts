import type { Session } from '@loopguard/session'

/**
 * Waits until all that the log holds is durable, or the turn is cancelled. Nothing is returned where there is nothing to wait for, so
 * that a log without `flush` costs no await.
 *
 * @throws what the flush rejects with, as a rejection; once the signal has aborted nothing is told of it any more.
 */
export function barrier(session: Session, signal: AbortSignal): Promise<void> | undefined {
  const flushed = session.flush()
  if (flushed === undefined) return undefined
  return new Promise((resolve, reject) => {
    if (signal.aborted) resolve()
    const cancelled = (): void => resolve()
    signal.addEventListener('abort', cancelled, { once: true })
    void flushed.then(resolve, reject).finally(() => signal.removeEventListener('abort', cancelled))
  })
}
