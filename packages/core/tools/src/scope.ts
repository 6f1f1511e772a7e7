import { Context } from '@deepseek-ai/cordis'
import type { ToolAgent } from './types.ts'

/** Key under which a context carries its agent. Registered globally, so that two loaded copies of this package agree. */
const AGENT: unique symbol = Symbol.for('loopguard.agent') as never

type Scoped = { readonly [AGENT]?: ToolAgent }

/** The agent that a context belongs to; `undefined` for one that belongs to all. Contexts below inherit it. */
export function agentOf(ctx: Context): ToolAgent | undefined {
  return (ctx as Scoped)[AGENT]
}

/** A context whose tools, guards and listeners belong to `agent` alone. Shares the fiber of `ctx`, so they go with that. */
export function scopeTo(ctx: Context, agent: ToolAgent): Context {
  return ctx.extend({ [AGENT]: agent })
}

/** Says, as the first argument of a dispatch, whose listeners hear the event. */
interface Carrier {
  [Context.filter](listenerCtx: Context): boolean
}

const makeCarrier = (agent: ToolAgent | undefined): Carrier =>
  Object.freeze({
    [Context.filter](listenerCtx: Context): boolean {
      const owner = agentOf(listenerCtx)
      return owner === undefined || owner === agent
    },
  })

const NOBODY = makeCarrier(undefined)
const carriers = new WeakMap<ToolAgent, Carrier>()

/**
 * The event carrier of an agent: listeners of no agent and of this very agent hear what it carries. Without an agent, those of
 * no agent alone. Always the same object for the same agent. A listener registered with `global` hears everything.
 */
export function carrierOf(agent: ToolAgent | undefined): object {
  if (agent === undefined) return NOBODY
  let carrier = carriers.get(agent)
  if (carrier === undefined) carriers.set(agent, (carrier = makeCarrier(agent)))
  return carrier
}
