/** What follows an upstream signal. */
export interface Follower {
  /** The upstream has aborted. Called once at most, and never after {@link Membership.leave}. */
  abort(reason: unknown): void
}

/** A follower's hold on its upstream. */
export interface Membership {
  /** Idempotent. The last one to leave takes the listener off the signal. */
  leave(member: Follower): void
}

/**
 * Everything that follows one signal, behind one listener. `AbortSignal.any` keeps an entry for each call on a signal that lives
 * long, and a listener for each follower costs more and warns above a limit; this leaves nothing on the signal.
 */
class Followers implements Membership {
  private readonly signal: AbortSignal
  private readonly members = new Set<Follower>()

  constructor(signal: AbortSignal) {
    this.signal = signal
    signal.addEventListener('abort', this)
  }

  join(member: Follower): void {
    this.members.add(member)
  }

  leave(member: Follower): void {
    if (!this.members.delete(member) || this.members.size > 0) return
    this.signal.removeEventListener('abort', this)
    followersOf.delete(this.signal)
  }

  handleEvent(): void {
    // Anyone can dispatch an `abort` event; only the signal knows whether it has aborted.
    if (!this.signal.aborted) return
    // The live set: a member that leaves while its siblings are told is not told.
    for (const member of this.members) member.abort(this.signal.reason)
  }
}

const followersOf = new WeakMap<AbortSignal, Followers>()

/** Joins the followers of a signal that has not aborted yet. */
export function follow(signal: AbortSignal, member: Follower): Membership {
  let followers = followersOf.get(signal)
  if (followers === undefined) {
    followers = new Followers(signal)
    followersOf.set(signal, followers)
  }
  followers.join(member)
  return followers
}
