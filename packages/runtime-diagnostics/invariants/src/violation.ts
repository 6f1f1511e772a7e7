import type { Context } from '@deepseek-ai/cordis'

// Registered, so that a second loaded copy of this package knows the errors of the first: `instanceof` would not.
const brand = Symbol.for('@loopguard/invariants/error')

/** How many violations are kept. */
const KEPT_VIOLATIONS = 100

/** A broken contract, with the package that owns the check. */
export class InvariantError extends Error {
  static {
    Object.defineProperty(InvariantError.prototype, 'name', { value: 'InvariantError', writable: true, configurable: true })
    Object.defineProperty(InvariantError.prototype, brand, { value: true })
  }

  readonly code = 'INVARIANT' as const
  /** Full name of the package that registered the check. */
  readonly packageName: string

  constructor(packageName: string, message: string) {
    super(`invariant violated by "${packageName}": ${message}`)
    this.packageName = packageName
  }
}

/** Whether `value` is an {@link InvariantError}, also one that another loaded copy of this package made. */
export function isInvariantError(value: unknown): value is InvariantError {
  return typeof value === 'object' && value !== null && brand in value
}

/** Makes a violation seen: the latest are kept, each is logged at error level and emitted. */
export class Violations {
  readonly latest: InvariantError[] = []
  private readonly ctx: Context
  /** Packages whose violation is being published: a check that trips over its own publication is kept, not published again. */
  private readonly publishing = new Set<string>()

  constructor(ctx: Context) {
    this.ctx = ctx
  }

  /** @throws InvariantError always, after it has been kept and published. */
  raise(packageName: string, message: string): never {
    const error = new InvariantError(packageName, message)
    this.latest.push(error)
    if (this.latest.length > KEPT_VIOLATIONS) this.latest.shift()
    if (!this.publishing.has(packageName)) {
      this.publishing.add(packageName)
      this.log(error)
      this.emit(error)
      this.publishing.delete(packageName)
    }
    throw error
  }

  private emit(error: InvariantError): void {
    const report = (thrown: unknown): void => this.log(new Error('a listener of "invariants/violation" failed', { cause: thrown }))
    let listeners: ((error: InvariantError) => unknown)[] = []
    try {
      listeners = this.ctx.events.dispatch('emit', ['invariants/violation', error])
    } catch (thrown) {
      this.log(new Error('"invariants/violation" was vetoed before any listener ran', { cause: thrown }))
    }
    for (const listener of listeners) {
      try {
        void Promise.resolve(listener(error)).catch(report)
      } catch (thrown) {
        report(thrown)
      }
    }
  }

  /** At error level. A log exporter that throws must not take the place of what is logged. */
  log(error: Error): void {
    try {
      this.ctx.logger.error(error)
    } catch {
      // A violation is still kept, emitted and thrown.
    }
  }
}
