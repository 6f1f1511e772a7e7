import { follow, type Follower, unfollow } from '@loopguard/timeout'

/**
 * Waits for a promise that never rejects, at most so long.
 * @throws the reason of the signal when that aborts first. No timer is left, and nothing on the signal.
 */
export async function waitFor(promise: Promise<void>, timeoutMs: number | undefined, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  let timer: NodeJS.Timeout | undefined
  let follower: Follower | undefined
  const over = new Promise<void>((resolve, reject) => {
    if (timeoutMs !== undefined) timer = setTimeout(resolve, timeoutMs)
    follower = { abort: (reason) => reject(reason as Error) }
    if (signal !== undefined) follow(signal, follower)
  })
  try {
    await Promise.race([promise, over])
  } finally {
    clearTimeout(timer)
    if (signal !== undefined && follower !== undefined) unfollow(signal, follower)
  }
}
