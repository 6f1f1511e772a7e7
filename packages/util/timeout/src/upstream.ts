/** What follows an upstream signal. */
export interface Follower {
  /**
   * The upstream has aborted. Called once at most, and never after {@link unfollow}. A throw is uncaught, like that of a listener on the
   * signal, and keeps no other follower from hearing.
   */
  abort(reason: unknown): void
}

// Everything that follows one signal stands behind one listener. On Node 22 each `AbortSignal.any` under a signal that lives long
// makes the next one slower, and a listener for each follower costs more and warns above a limit; this leaves nothing on the signal.
const followersOf = new WeakMap<AbortSignal, Set<Follower>>()

/**
 * Joins the followers of a signal, which must not have aborted yet. One listener stands for all of them, so that a signal that lives
 * long neither warns nor grows. Leave with {@link unfollow}, with the same object, on every path.
 */
export function follow(signal: AbortSignal, member: Follower): void {
  let followers = followersOf.get(signal)
  if (followers === undefined) {
    followers = new Set()
    followersOf.set(signal, followers)
    signal.addEventListener('abort', tell)
  }
  followers.add(member)
}

/** Leaves them again; the last to leave takes the listener off the signal. Idempotent. */
export function unfollow(signal: AbortSignal, member: Follower): void {
  const followers = followersOf.get(signal)
  followers?.delete(member)
  if (followers?.size !== 0) return
  followersOf.delete(signal)
  signal.removeEventListener('abort', tell)
}

function tell(this: AbortSignal): void {
  // Anyone can dispatch an `abort` event; only the signal knows whether it has aborted.
  if (!this.aborted) return
  const followers = followersOf.get(this) as Set<Follower> // the listener goes with the set
  // The live set: a member that leaves while its siblings are told is not told.
  for (const member of followers) {
    unfollow(this, member)
    try {
      member.abort(this.reason)
    } catch (thrown) {
      queueMicrotask(() => {
        throw thrown
      })
    }
  }
}
