// The one module that other packages load at run time, from their `./invariant`. Besides two files of helpers it imports types only:
// a package that ships a companion does not load the registry.
import type { Context } from '@deepseek-ai/cordis'
import { isUnloading } from '@loopguard/cordis-internals'
import type { InvariantFailure, InvariantInstaller } from './contract.ts'

export type { InvariantFailure, InvariantInstaller } from './contract.ts'
export { onDispatch, type DispatchListener } from './dispatch.ts'
export { isUnloading, listen } from '@loopguard/cordis-internals'

export interface CompanionOptions {
  /** Plugin name: `<x>-invariant`. */
  readonly name: string
  /** Full name of the package whose contract is checked; violations are attributed to it. */
  readonly packageName: string
  /** Services that the checks read, besides `invariants`. They are readable on the context that `install` gets. */
  readonly inject?: readonly string[]
  /** Puts the checks into the child context; called once per activation. State kept in its closure starts fresh each time. */
  readonly install: (ctx: Context, fail: InvariantFailure) => void | Promise<void>
}

/** A plugin, in parts that a module can export one by one. */
export interface Companion {
  readonly name: string
  readonly inject: string[]
  /** Registers, waits for the set-up, and returns the registration's disposer. Rejects with what `install` threw. */
  readonly apply: (ctx: Context) => Promise<() => unknown>
}

/** As much of a registry as a companion needs; any harness' `ctx.invariants` of this shape will do. */
interface Registrar {
  register(packageName: string, installer: InvariantInstaller): (() => unknown) | PromiseLike<() => unknown>
}

/** Makes the companion plugin of a package. It waits for `invariants` and for `inject`, and goes with whichever goes first. */
export function companion(options: CompanionOptions): Companion {
  const { name, packageName, install } = options
  const services = [...new Set(options.inject)]
  return {
    name,
    inject: [...new Set(['invariants', ...services])],
    apply: async (ctx) => {
      // A registry may make the child its own, so that the companion's fiber is not above it: both are asked.
      const installer: InvariantInstaller = Object.assign(
        (child: Context, fail: InvariantFailure) =>
          install(
            child,
            whileLoaded(
              child,
              unless(() => isUnloading(ctx), fail),
            ),
          ),
        { inject: services },
      )
      return await (ctx as Context & { readonly invariants: Registrar }).invariants.register(packageName, installer)
    },
  }
}

/** `fail` for this activation of the fiber of `ctx`: mute from the moment at which the fiber, or one that it belongs to, unloads. */
export function whileLoaded(ctx: Context, fail: InvariantFailure): InvariantFailure {
  let over = false
  ctx.effect(
    () => () => {
      over = true
    },
    'invariants: mute',
  )
  // `over` also holds for a check that is still in flight when its fiber is loaded again.
  return unless(() => over || isUnloading(ctx), fail)
}

const unless =
  (mute: () => boolean, fail: InvariantFailure): InvariantFailure =>
  (message) => {
    if (!mute()) fail(message)
  }
