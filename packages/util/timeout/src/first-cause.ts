import { TimeoutReason } from './reason.ts'
import { follow, unfollow, type Follower } from './upstream.ts'

/**
 * One derived signal and its two causes, the upstream and a timer: the first one wins and stays, and leaves nothing armed.
 *
 * While it can still abort, something that lives holds it: the running timer, or the upstream's listener. So it fires also when only
 * its `signal` is referenced.
 */
export class FirstCause implements Follower {
  readonly signal: AbortSignal
  expiry: TimeoutReason | undefined = undefined

  private readonly controller = new AbortController()
  private readonly timeoutMs: number
  private readonly code: string
  private upstream: AbortSignal | undefined
  private timer: ReturnType<typeof setTimeout> | undefined = undefined

  constructor(upstream: AbortSignal | undefined, timeoutMs: number, code: string) {
    this.signal = this.controller.signal
    this.timeoutMs = timeoutMs
    this.code = code
    this.upstream = upstream
    if (upstream?.aborted) this.abort(upstream.reason)
    else if (upstream !== undefined) follow(upstream, this)
  }

  arm(): void {
    this.timer = setTimeout(expire, this.timeoutMs, this)
  }

  disarm(): void {
    clearTimeout(this.timer)
    this.timer = undefined
  }

  abort(reason: unknown): void {
    this[Symbol.dispose]()
    this.controller.abort(reason)
  }

  /** The time is up. */
  expire(): void {
    // The upstream's listeners run in their order: one before ours may run a clock, or keep the event from us.
    if (this.upstream?.aborted) return this.abort(this.upstream.reason)
    this.expiry = new TimeoutReason(this.code, this.timeoutMs)
    this.abort(this.expiry)
  }

  [Symbol.dispose](): void {
    this.disarm()
    if (this.upstream === undefined) return
    unfollow(this.upstream, this)
    this.upstream = undefined
  }
}

function expire(cause: FirstCause): void {
  cause.expire()
}
