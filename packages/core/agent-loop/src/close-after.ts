/** Runs `close` after `work`, which may have thrown. Of two failures the first counts. */
export function closeAfter<T>(work: () => T, close: () => void): T {
  let result: T
  try {
    result = work()
  } catch (error) {
    quietly(close)
    throw error
  }
  close()
  return result
}

/** As {@link closeAfter}, for work that takes time. */
export async function closeAfterAsync<T>(work: () => Promise<T>, close: () => void): Promise<T> {
  let result: T
  try {
    result = await work()
  } catch (error) {
    quietly(close)
    throw error
  }
  close()
  return result
}

/** Runs what may fail where a failure changes nothing any more. */
export function quietly(work: () => void): void {
  try {
    work()
  } catch {
    // The failure that led here says more.
  }
}
