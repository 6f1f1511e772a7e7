import { rmSync } from 'node:fs'

/** Removes a file that no one misses. Never throws: litter is no reason to fail, nor to hide what has failed already. */
export function removeLitter(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {}
}
