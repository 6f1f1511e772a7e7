import type { Context } from '@deepseek-ai/cordis'
import type { Frontend } from '@loopguard/agent-loop'

/** The front end of a composition that has one: somebody talks to the agents through it. */
export function frontendOf(ctx: Context): Frontend | undefined {
  return (ctx.get('frontend') as Frontend | null | undefined) ?? undefined
}

/** Settles when the front end is closed, with what went wrong with it. Never without one, and never rejects. */
export async function closingOf(frontend: Frontend | undefined): Promise<unknown> {
  if (frontend === undefined) return new Promise(() => {})
  try {
    await frontend.closed
    return undefined
  } catch (fault) {
    return fault
  }
}
