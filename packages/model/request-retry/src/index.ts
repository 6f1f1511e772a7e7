import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@loopguard/agent-loop'
import type { Config } from './config.ts'
import { delayOf, isRetryable } from './delay.ts'
import { Waits } from './waits.ts'

export { Config } from './config.ts'

/** The plugin's name in a composition. */
export const name = 'request-retry'

/** It asks the agents of the loop again. */
export const inject: string[] = ['agentLoop']

/** How often the step that an agent is in has been retried. */
interface Count {
  readonly turn: number
  readonly step: number
  readonly retries: number
}

/**
 * Asks again, within the same step, when a request failed in a way that may pass. A listener that was registered after this one is asked
 * first, and what it decides stays; one that was registered before decides after it.
 */
export function apply(ctx: Context, settings: Config): void {
  const counts = new WeakMap<Agent, Count>()
  const waits = new Waits()
  ctx.effect(() => () => waits.end(), 'request-retry: waits')

  ctx.on('agent/request-error', async ({ agent, turn, step, failure, signal }, next) => {
    const decided = await next()
    if (decided !== undefined || signal.aborted || !isRetryable(failure, settings)) return decided
    const last = counts.get(agent)
    const retry = last?.turn === turn && last.step === step ? last.retries + 1 : 1
    if (retry > settings.maxRetries) return undefined
    const delayMs = delayOf(failure, retry, settings, Math.random())
    if (delayMs === undefined) return undefined
    counts.set(agent, { turn, step, retries: retry })
    agent.session.append('request/retry', { turn, step, retry, maxRetries: settings.maxRetries, delayMs, failure })
    return (await waits.wait(delayMs, signal)) ? { kind: 'retry' } : undefined
  })
}
