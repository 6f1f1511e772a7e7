import { deadline } from '@loopguard/timeout'

/** What `read` gives within the budget. The signal tells `read` to stop; stopping is up to `read`. */
export async function within<T>(budgetMs: number, read: (signal: AbortSignal) => Promise<T>, user?: AbortSignal): Promise<T | 'too slow'> {
  using limit = deadline(user, budgetMs, 'READ_TIMEOUT')
  try {
    return await read(limit.signal)
  } catch (error) {
    if (limit.expiry) return 'too slow'
    throw error // a failure, or the user's own cancel
  }
}
