/** How long work that waits for nothing may keep the event loop to itself, in milliseconds. */
const SLICE_MS = 4

// As they were when this was loaded: a fake clock must stop neither.
const { setImmediate } = globalThis
const now = performance.now.bind(performance)

/** When somebody first asked since the event loop last turned. */
let since: number | undefined
/** What those who are due wait for together. */
let hop: Promise<void> | undefined
let land: (() => void) | undefined

/**
 * What loops without I/O asks this before each round, and awaits what it gets. Otherwise no timer, signal or other agent is served until
 * the loop is over. While nothing is due it gets `undefined`, so that the order of microtasks stays as it is; once 4 ms have passed
 * since the event loop last turned, a promise that settles when it has turned again. There is one clock for the process. The caller
 * must look at its abort signal again after the wait.
 */
export function hopIfDue(): Promise<void> | undefined {
  if (since === undefined) {
    since = now()
    setImmediate(arrive)
    return undefined
  }
  if (hop === undefined && now() - since < SLICE_MS) return undefined
  return (hop ??= new Promise((resolve) => (land = resolve)))
}

/** Whether somebody waits for a hop: what they are at is not over, though no promise and no timer of theirs is due. For clocks of tests. */
export function isHopAwaited(): boolean {
  return hop !== undefined
}

function arrive(): void {
  since = undefined
  hop = undefined
  land?.()
  land = undefined
}
