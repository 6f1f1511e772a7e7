import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '@deepseek-ai/cordis'
import type {} from '@loopguard/agent-loop'

export const name = 'request-retry'

/** Asks again, as late as the provider wishes, when it was busy. A cancel ends the wait at once. */
export function apply(ctx: Context): void {
  ctx.on('agent/request-error', async ({ failure, signal }, next) => {
    if (failure.status !== 429) return next()
    await sleep(failure.retryAfterMs ?? 1_000, undefined, { signal })
    return { kind: 'retry' }
  })
}
