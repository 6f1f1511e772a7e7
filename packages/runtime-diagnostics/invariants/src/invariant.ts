import type { FiberState } from '@deepseek-ai/cordis'
import { companion, type Companion } from './companion.ts'
import type {} from './registry.ts'

// Cordis' FiberState is a const enum, which does not exist at run time.
const DISPOSED: FiberState.DISPOSED = 4

const plugin: Companion = companion({
  name: 'invariants-invariant',
  packageName: '@loopguard/invariants',
  install(ctx, fail) {
    const registry = ctx.invariants
    ctx.on('internal/status', (fiber) => {
      if (fiber.state !== DISPOSED) return
      const held = registry.registrations().find((registration) => registration.fiber === fiber)
      if (held === undefined) return
      try {
        fail(`the name "${held.packageName}" is still held although its fiber is gone`)
      } catch {
        // Cordis publishes this event amid a transition, which a throw would break off. The violation has been reported.
      }
    })
  },
})

/** The registry's own companion. Relation: a name is free again once its fiber is gone. */
export const name: string = plugin.name
export const inject: string[] = plugin.inject
export const apply: Companion['apply'] = plugin.apply
