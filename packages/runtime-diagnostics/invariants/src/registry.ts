import { type Context, Service } from '@deepseek-ai/cordis'
import type Schema from '@deepseek-ai/schemastery'
import { Config } from './config.ts'
import type { InvariantInstaller, Registration, RegistrationInfo } from './contract.ts'
import { Registrations } from './registrations.ts'
import { Selection } from './selection.ts'
import { type InvariantError, Violations } from './violation.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    invariants: InvariantRegistry
  }
  interface Events {
    /** A check failed. @mode emit; listeners are contained and cannot swallow it: it was kept and logged before, and is thrown after. */
    'invariants/violation'(error: InvariantError): void
  }
}

/** `ctx.invariants`: packages register checks of their own contracts, a violation is kept, logged, emitted and thrown. */
export class InvariantRegistry extends Service {
  static override readonly name: string = 'invariants'
  static readonly Config: Schema<Config> = Config

  // Plain objects: the methods below run on Cordis' tracing proxies, where each read costs.
  private readonly selection: Selection
  private readonly held: Registrations
  private readonly seen: Violations

  /** @throws TypeError for a list entry that is no use as a pattern. */
  constructor(ctx: Context, config: Config = {}) {
    super(ctx, 'invariants')
    const { enabled = true, package_allowlist = [], package_blocklist = [] } = config
    this.selection = new Selection(enabled, package_allowlist, package_blocklist)
    this.seen = new Violations(ctx)
    this.held = new Registrations(ctx, this.selection, this.seen)
  }

  /**
   * Reserves `packageName` and, when the package is selected, runs `installer` in a child of the caller's fiber. Ends with the
   * caller's fiber, with the service, with the child or by the disposer, whichever is first.
   *
   * @throws RegistrationError `INVARIANT_BAD_NAME`, `INVARIANT_BAD_INSTALLER`, `INVARIANT_NAME_TAKEN`, `INVARIANT_REGISTRY_GONE`.
   * @throws CordisError `INACTIVE_EFFECT` when the caller's fiber is unloading or gone.
   */
  register(packageName: string, installer: InvariantInstaller): Registration {
    // A method's `this.ctx` carries the service's own context in its shadow, and a child would inherit it; tracing takes it off.
    return this.held.register(this.ctx.reflect.trace(this.ctx), packageName, installer)
  }

  /** The latest 100 violations, oldest first. Live: copy it to keep it. */
  get violations(): readonly InvariantError[] {
    return this.seen.latest
  }

  /** What is registered now, in order of registration. */
  registrations(): RegistrationInfo[] {
    return [...this.held.byName.values()].map(({ packageName, selected, fiber }) => ({ packageName, selected, fiber }))
  }

  /** Entries of the configured lists that match no package registered now, each as `<list>: "<source>"`. */
  unmatched(): string[] {
    return this.selection.unmatched([...this.held.byName.keys()])
  }
}
