import { setMaxListeners } from 'node:events'
import { follow, type Follower, unfollow } from '@loopguard/timeout'

/**
 * One signal that aborts with the first of two, the caller's and the one that a wrapper put in its place, with its reason. It is made
 * when it is first read: a body that never looks at its signal does not pay for one.
 */
export class Fuse implements Follower {
  private readonly caller: AbortSignal
  private readonly wrapper: AbortSignal
  private made: AbortSignal | undefined = undefined
  /** Follows the wrapper's, once there is a signal of our own to abort. */
  private tie: Follower | undefined = undefined
  private isReleased = false

  /** Two, neither of which has aborted. */
  constructor(caller: AbortSignal, wrapper: AbortSignal) {
    this.caller = caller
    this.wrapper = wrapper
    follow(caller, this)
  }

  get signal(): AbortSignal {
    return (this.made ??= this.make())
  }

  /** The caller has aborted. */
  abort(reason: unknown): void {
    if (this.tie !== undefined) this.tie.abort(reason)
    else this.made ??= this.wrapper.aborted ? this.wrapper : this.caller
  }

  /** Ends the following of both; leaves nothing on them. */
  release(): void {
    this.isReleased = true
    unfollow(this.caller, this)
    if (this.tie !== undefined) unfollow(this.wrapper, this.tie)
  }

  private make(): AbortSignal {
    if (this.wrapper.aborted) return this.wrapper
    const controller = new AbortController()
    setMaxListeners(0, controller.signal)
    this.tie = { abort: (reason) => controller.abort(reason) }
    if (!this.isReleased) follow(this.wrapper, this.tie)
    return controller.signal
  }
}

/** Whether a value can stand in for an abort signal; the class is not asked for, since there may be another copy of it. */
export function isAbortSignal(value: unknown): value is AbortSignal {
  if (typeof value !== 'object' || value === null) return false
  const { aborted, addEventListener } = value as Partial<AbortSignal>
  return typeof aborted === 'boolean' && typeof addEventListener === 'function'
}
