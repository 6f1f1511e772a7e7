import type { Context } from '@deepseek-ai/cordis'
import { busOf, emitContained } from '@loopguard/cordis-internals'

/** Tells every listener of an event of one's own; a listener that fails is logged and hurts nothing. */
export function announce(ctx: Context, event: string, ...args: readonly unknown[]): void {
  emitContained(busOf(ctx), null, event, args)
}
