/** Waits for the first of these, at most `ms`. No timer is left. */
export async function firstOf(ms: number, ...events: readonly Promise<unknown>[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  try {
    await Promise.race([late, ...events])
  } finally {
    clearTimeout(timer)
  }
}

/** Lets the event loop read what has been written into a pipe by now. */
export async function pipesRead(): Promise<void> {
  // The poll of the round that this was called in may be under way: the next one sees all.
  for (let round = 0; round < 2; round++) await new Promise((resolve) => setImmediate(resolve))
}
