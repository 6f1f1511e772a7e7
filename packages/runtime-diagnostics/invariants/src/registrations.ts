import type { Context, Disposable, Fiber, FiberState } from '@deepseek-ai/cordis'
import { isLeaving, isUnloading } from '@loopguard/cordis-internals'
import { inspect } from 'node:util'
import { whileLoaded } from './companion.ts'
import type { InvariantInstaller, Registration } from './contract.ts'
import { RegistrationError } from './errors.ts'
import { Reservation } from './reservation.ts'
import type { Selection } from './selection.ts'
import type { Violations } from './violation.ts'

// Cordis' FiberState is a const enum, which does not exist at run time.
const ACTIVE: FiberState.ACTIVE = 2
const FAILED: FiberState.FAILED = 3
const DISPOSED: FiberState.DISPOSED = 4

/** The names that are held, and the children that hold them. All of it goes with the fiber of `owner`. */
export class Registrations {
  readonly byName: Map<string, Reservation> = new Map()
  private readonly byFiber = new WeakMap<Fiber, Reservation>()
  private readonly owner: Context
  private readonly selection: Selection
  private readonly violations: Violations

  constructor(owner: Context, selection: Selection, violations: Violations) {
    this.owner = owner
    this.selection = selection
    this.violations = violations
    // In front, so that a name is free before anybody else hears that its child has gone.
    owner.on('internal/status', (fiber) => this.follow(fiber), { prepend: true })
    const withdraw = (): void => this.withdrawLeaving()
    owner.on('internal/plugin', withdraw)
    owner.on('internal/service', withdraw, { global: true })
    owner.effect(() => () => Promise.all([...this.byName.values()].map((held) => held.dispose())), 'invariants: registrations')
  }

  register(caller: Context, packageName: string, installer: InvariantInstaller): Registration {
    this.check(packageName, installer)
    const held = new Reservation(packageName, this.selection.selects(packageName), caller)
    held.undo = caller.effect(() => this.hold(held, installer), `ctx.invariants.register(${JSON.stringify(packageName)})`)
    if (held.failure !== undefined) void held.undo()
    this.withdrawLeaving()
    const dispose = (): Promise<void> => held.withdraw()
    const then: Registration['then'] = (resolved, rejected) => held.setUp.promise.then(() => dispose).then(resolved, rejected)
    // oxlint-disable-next-line unicorn/no-thenable -- to await a registration is to join its set-up
    return Object.assign(() => held.withdraw(), { then })
  }

  private check(packageName: unknown, installer: unknown): void {
    const refuse = (wanted: string): never => {
      throw new RegistrationError('INVARIANT_BAD_NAME', `packageName ${wanted}, got ${inspect(packageName, { depth: 0 })}`)
    }
    if (typeof packageName !== 'string' || packageName.trim() === '') return refuse('must be a non-blank string')
    if (packageName !== packageName.trim()) return refuse('must not have surrounding whitespace')
    if (/\s/.test(packageName)) return refuse('must not contain whitespace')
    if (typeof installer !== 'function') {
      const got = inspect(installer, { depth: 0 })
      throw new RegistrationError('INVARIANT_BAD_INSTALLER', `the installer of "${packageName}" must be a function, got ${got}`)
    }
    if (isUnloading(this.owner)) {
      throw new RegistrationError('INVARIANT_REGISTRY_GONE', `"${packageName}" cannot be registered: the registry is inactive`)
    }
    if (this.byName.has(packageName)) {
      throw new RegistrationError('INVARIANT_NAME_TAKEN', `"${packageName}" is already registered`)
    }
  }

  /** Disposers run in reverse: the name is freed only after the child has gone. */
  private *hold(held: Reservation, installer: InvariantInstaller): Generator<Disposable, void, void> {
    this.byName.set(held.packageName, held)
    yield () => this.free(held)
    if (!held.selected) return held.endSetUp()
    let child
    try {
      child = held.caller.plugin({
        name: `invariants of ${held.packageName}`,
        ...(installer.inject !== undefined && { inject: installer.inject }),
        apply: (ctx: Context) => this.install(ctx, held, installer),
      })
    } catch (error) {
      // As what the child throws later, this is the registration's to reject with; but Cordis does not log it.
      held.failure = { error }
      this.violations.log(new Error(`the checks of "${held.packageName}" could not be set up`, { cause: error }))
      return held.endSetUp()
    }
    held.fiber = child.ctx.fiber
    this.byFiber.set(held.fiber, held)
    yield child.dispose
  }

  private async install(ctx: Context, held: Reservation, installer: InvariantInstaller): Promise<void> {
    const raise = (message: string): void => {
      if (!isUnloading(this.owner)) this.violations.raise(held.packageName, message)
    }
    try {
      await installer(ctx, whileLoaded(ctx, raise))
    } catch (error) {
      held.failure = { error }
      throw error
    }
  }

  private follow(fiber: Fiber): void {
    const held = this.byFiber.get(fiber)
    if (held === undefined) return
    if (fiber.state === ACTIVE) {
      held.endSetUp()
    } else if (fiber.state === FAILED) {
      void fiber.await().catch((error: unknown) => {
        held.failure ??= { error }
        return held.dispose()
      })
    } else if (fiber.state === DISPOSED) {
      this.free(held)
      // A child that ended by itself leaves the rest of its registration behind.
      void held.undo()
    }
  }

  private free(held: Reservation): void {
    // It comes here twice when the child goes first, and the name may have a new holder by then.
    if (this.byName.get(held.packageName) === held) this.byName.delete(held.packageName)
    held.endSetUp()
    held.freed.resolve()
  }

  private withdrawLeaving(): void {
    for (const held of this.byName.values()) if (!held.isSetUp && isLeaving(held.caller)) void held.undo()
  }
}
