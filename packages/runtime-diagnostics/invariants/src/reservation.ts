import type { Context, Fiber } from '@deepseek-ai/cordis'

interface Deferred {
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

function deferred(): Deferred {
  let resolve!: Deferred['resolve']
  let reject!: Deferred['reject']
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  // An awaiting caller sees a rejection; otherwise Cordis has logged it with the child's name.
  promise.catch(() => {})
  return { promise, resolve, reject }
}

/** One name that is held, from registration until its child has gone. */
export class Reservation {
  readonly packageName: string
  readonly selected: boolean
  /** The context on whose fiber the registration lives. */
  readonly caller: Context
  /** Settles with the set-up. */
  readonly setUp: Deferred = deferred()
  isSetUp = false
  /** Resolves when the name is free. */
  readonly freed: Deferred = deferred()
  fiber: Fiber | undefined
  /** Why the child failed: what the installer threw, unaltered (Cordis wraps what is no Error). */
  failure: { readonly error: unknown } | undefined
  /** Disposer of the effect that owns all of it; single-shot. */
  undo: () => unknown = () => {}

  constructor(packageName: string, selected: boolean, caller: Context) {
    this.packageName = packageName
    this.selected = selected
    this.caller = caller
  }

  /** The set-up is over, one way or the other; the first answer stands. */
  endSetUp(): void {
    this.isSetUp = true
    if (this.failure === undefined) this.setUp.resolve()
    else this.setUp.reject(this.failure.error)
  }

  /** Idempotent: a second call waits for the same end. */
  async dispose(): Promise<void> {
    await this.undo()
    await this.freed.promise
  }

  /** The disposer in a caller's hands: a set-up that has begun is joined first, as Cordis' own asynchronous effects do. */
  async withdraw(): Promise<void> {
    if (this.isSetUp) return this.dispose()
    // Also returns when the child waits for a service. A failure is thrown below, unaltered.
    await this.fiber?.await().catch(() => {})
    await this.dispose()
    return this.setUp.promise
  }
}
