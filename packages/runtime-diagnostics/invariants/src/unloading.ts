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
