import type { Context } from '@deepseek-ai/cordis'

/**
 * Whether the fiber of `ctx`, or one that it belongs to, was told to go: disposed, or bereft of a service that it needs.
 *
 * Cordis unloads a fiber that is still starting only after its `apply` has settled. An `apply` that awaits a registration whose
 * installer waits for a missing service would settle never, and neither would the disposal.
 */
export function isLeaving(ctx: Context): boolean {
  for (let fiber = ctx.fiber; ; fiber = fiber.parent.fiber) {
    if (fiber.uid === null) return true
    if (fiber.runtime === null) return false
    if (Object.keys(fiber.inject).some((service) => fiber.ctx.reflect._getImpl(service) === undefined)) return true
  }
}
