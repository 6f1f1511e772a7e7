import type { Context, Fiber, Inject } from '@deepseek-ai/cordis'

// Types only, and no module augmentation: a companion's published declarations reach this file, and must be able to live in a
// program in which another harness has declared a `ctx.invariants` of its own.

/**
 * Says that the contract is broken: records, logs and emits the violation, then throws it.
 *
 * It returns, and does nothing at all, only when the check's own fiber is unloading or was unloaded: what a dying check sees is no
 * evidence. So write `return fail(...)`, or carry on as if the contract held.
 */
export type InvariantFailure = (message: string) => void

/**
 * Puts one package's checks into `ctx`, a child context that belongs to the registration: listeners, effects and plugins made with
 * it go when the registration goes. May be asynchronous; the registration waits. A throw rolls all of it back.
 */
export interface InvariantInstaller {
  (ctx: Context, fail: InvariantFailure): void | Promise<void>
  /** Services that the child needs. It waits for them, and runs the installer anew when one is replaced. */
  readonly inject?: Inject
}

/**
 * Withdraws a registration; idempotent, and resolves once the child has gone and the name is free. A set-up that has begun is joined
 * first; if it fails, this rejects with the installer's error.
 *
 * Awaiting the registration itself joins its set-up: it resolves, to the plain disposer, once the installer has run, and rejects
 * with the installer's error once everything has been rolled back. An installer that waits for a service keeps it waiting. If the
 * registration ends before its set-up does, it resolves.
 */
export interface Registration extends PromiseLike<() => Promise<void>> {
  (): Promise<void>
}

/** What the registry holds for one name. */
export interface RegistrationInfo {
  readonly packageName: string
  /** False when the lists, or `enabled: false`, leave the package out: the name is reserved, nothing was installed. */
  readonly selected: boolean
  /** The child in which the installer runs; none when not selected. */
  readonly fiber: Fiber | undefined
}
