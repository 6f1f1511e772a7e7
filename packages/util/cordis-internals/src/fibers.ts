import type { Context, FiberState } from '@deepseek-ai/cordis'

// Cordis' FiberState is a const enum, which does not exist at run time.
const LOADING: FiberState.LOADING = 1
const ACTIVE: FiberState.ACTIVE = 2

/** Whether the fiber of `ctx`, or any fiber that it belongs to, is going or gone. */
export function isUnloading(ctx: Context): boolean {
  for (let fiber = ctx.fiber; ; fiber = fiber.parent.fiber) {
    if (fiber.uid === null || (fiber.state !== ACTIVE && fiber.state !== LOADING)) return true
    if (fiber.runtime === null) return false
  }
}

/**
 * Whether the fiber of `ctx`, or one that it belongs to, was told to go: disposed, or bereft of a service that it needs.
 *
 * Cordis unloads a fiber that is still starting only after its `apply` has settled. An `apply` that awaits a registration whose
 * installer waits for a missing service would never settle, and neither would the disposal.
 */
export function isLeaving(ctx: Context): boolean {
  for (let fiber = ctx.fiber; ; fiber = fiber.parent.fiber) {
    if (fiber.uid === null) return true
    if (fiber.runtime === null) return false
    if (Object.keys(fiber.inject).some((service) => !isProvided(fiber.ctx, service))) return true
  }
}

/** Without the trace that a read of the service leaves. */
function isProvided(ctx: Context, service: string): boolean {
  return ctx.reflect._getImpl(service) !== undefined
}
