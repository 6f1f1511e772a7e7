/** One listener on each signal that is followed, whatever the number of followers: many listeners make Node warn of a leak. */
const followers = new WeakMap<AbortSignal, Followers>()

interface Followers {
  readonly set: Set<() => void>
  readonly listener: () => void
}

/** Calls `react` when `signal` aborts, which it must not have done yet. The returned function leaves nothing behind on the signal. */
export function onAbort(signal: AbortSignal, react: () => void): () => void {
  const entry = () => react()
  let group = followers.get(signal)
  if (group === undefined) {
    const set = new Set<() => void>()
    const listener = (): void => {
      followers.delete(signal)
      for (const follower of set) follower()
    }
    followers.set(signal, (group = { set, listener }))
    signal.addEventListener('abort', listener, { once: true })
  }
  const { set, listener } = group
  set.add(entry)
  return () => {
    if (!set.delete(entry) || set.size > 0 || followers.get(signal)?.set !== set) return
    followers.delete(signal)
    signal.removeEventListener('abort', listener)
  }
}

export interface Fuse {
  readonly signal: AbortSignal
  /** Ends the following of both; leaves nothing on them. */
  release(): void
}

const nothing = (): void => {}

/**
 * One signal that aborts with the first of two, with its reason. When both are the same, or one has aborted already, it is that
 * very signal.
 */
export function fuse(caller: AbortSignal, other: AbortSignal): Fuse {
  if (caller === other || caller.aborted) return { signal: caller, release: nothing }
  if (other.aborted) return { signal: other, release: nothing }
  const controller = new AbortController()
  const offCaller = onAbort(caller, () => controller.abort(caller.reason))
  const offOther = onAbort(other, () => controller.abort(other.reason))
  return {
    signal: controller.signal,
    release() {
      offCaller()
      offOther()
    },
  }
}

/** Whether a value can stand in for an abort signal; the class is not asked for, since there may be another copy of it. */
export function isAbortSignal(value: unknown): value is AbortSignal {
  if (typeof value !== 'object' || value === null) return false
  const { aborted, addEventListener } = value as Partial<AbortSignal>
  return typeof aborted === 'boolean' && typeof addEventListener === 'function'
}
