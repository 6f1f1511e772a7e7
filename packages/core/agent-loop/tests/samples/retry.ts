import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '@deepseek-ai/cordis'
import type {} from '@loopguard/agent-loop'

export const name = 'retry'

/** Node fires a timer that is longer at once. */
const LONGEST_MS = 2_147_483_647

/** Asks again, as late as the provider wishes and at most three times a step, when it was busy. A cancel ends the wait at once. */
export function apply(ctx: Context): void {
  const tries = new WeakMap<object, { readonly at: string; count: number }>()
  ctx.on('agent/request-error', async ({ agent, turn, step, failure, signal }, next) => {
    const at = `${turn}.${step}`
    const last = tries.get(agent)
    const count = last?.at === at ? last.count + 1 : 1
    tries.set(agent, { at, count })
    if (failure.status !== 429 || count > 3) return next()
    await sleep(Math.min(failure.retryAfterMs ?? 1_000, LONGEST_MS), undefined, { signal })
    return { kind: 'retry' }
  })
}
