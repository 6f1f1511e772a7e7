const LOOK_AGAIN_MS = 1000

/**
 * Keeps the process alive while agents work. Node ends silently when nothing is left that could wake it, however many promises are
 * pending; `beforeExit` is where it says so, and a timer armed there keeps it going.
 *
 * @param running - what runs at the moment, one line each.
 * @param tell - is told once of what hangs, whenever that changes.
 * @returns stops it.
 */
export function stayAlive(running: () => readonly string[], tell: (hanging: readonly string[]) => void): () => void {
  let timer: NodeJS.Timeout | undefined
  let told = ''
  const stay = (): void => {
    timer = setTimeout(() => {}, LOOK_AGAIN_MS)
    const hanging = running()
    if (hanging.join('\n') === told) return
    told = hanging.join('\n')
    tell(hanging)
  }
  process.on('beforeExit', stay)
  return () => {
    process.off('beforeExit', stay)
    clearTimeout(timer)
  }
}
