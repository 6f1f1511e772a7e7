/** How long the unloading of a composition that did not start may take. */
export const UNLOAD_LIMIT_MS = 1000

/** Whether the work settled in time. Its timer keeps the process alive meanwhile. */
export async function settlesWithin(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), limitMs)))
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
