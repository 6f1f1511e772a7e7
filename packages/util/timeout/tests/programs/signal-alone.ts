// Run with --expose-gc: prints, as JSON, how each signal fared of which nothing but itself was referenced while garbage was collected.
import { setTimeout as wait } from 'node:timers/promises'
import { deadline, idleWatchdog } from '@loopguard/timeout'

const forever: AsyncIterator<never> = { next: () => new Promise<never>(() => {}) }

const cancelled = new AbortController()
const signals = {
  deadline: deadline(undefined, 100, 'LATE').signal,
  followed: deadline(new AbortController().signal, 100, 'LATE').signal,
  nested: deadline(deadline(undefined, 100, 'OUTER').signal, 60_000, 'LATE').signal,
  cancelled: deadline(cancelled.signal, 60_000, 'LATE').signal,
  watchdog: watched(),
}

function watched(): AbortSignal {
  const watch = idleWatchdog(undefined, 100, 'IDLE')
  void watch.next(forever)
  return watch.signal
}

const fared: Record<string, string> = {}
for (const [name, signal] of Object.entries(signals)) {
  signal.addEventListener('abort', () => (fared[name] = String(signal.reason)))
}
for (let i = 0; i < 5; i++) {
  globalThis.gc?.()
  await wait(5)
}
cancelled.abort('stop')
await wait(200)
process.stdout.write(JSON.stringify(fared))
