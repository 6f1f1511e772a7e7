import type { Agent } from '@loopguard/agent-loop'
import { LlmError, type LlmErrorOptions } from '@loopguard/llm'
import * as requestRetry from '@loopguard/request-retry'
import * as requestRetryInvariant from '@loopguard/request-retry/invariant'
import type { SessionEvent } from '@loopguard/session'
import { createHarness, fakeClock, type FakeClock, type Harness, type HarnessOptions, userMessage } from '@loopguard/testkit'
import { onTestFinished, vi } from 'vitest'

/** An entry of a script: a request that fails. */
export const fails =
  (code = 'RATE_LIMIT', options: LlmErrorOptions = { retryable: true }) =>
  (): never => {
    throw new LlmError(`it is ${code}`, code, options)
  }

export interface Stage {
  readonly harness: Harness
  readonly agent: Agent
  readonly clock: FakeClock
  /** Sends a message and waits until its agent waits for a retry, or is idle. */
  readonly start: (agent?: Agent) => Promise<void>
}

/** A host with the plugin and its companion, on a clock that stands still. The jitter is none. */
export async function stage({ config, plugins = [], ...options }: HarnessOptions & { config?: object } = {}): Promise<Stage> {
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.5)
  onTestFinished(() => random.mockRestore())
  const clock = fakeClock()
  onTestFinished(() => clock.restore())
  const harness = await createHarness({ ...options, plugins: [[requestRetry, config], requestRetryInvariant, ...plugins] })
  onTestFinished(() => harness.dispose())
  const agent = harness.agent()
  return {
    harness,
    agent,
    clock,
    start: async (whose = agent) => {
      whose.followup(userMessage('hi'))
      await clock.advance(0)
    },
  }
}

/** What the log says of failed attempts, retries and the end of turns, a line each. */
export function told({ session }: Agent): string[] {
  return session.events.flatMap((event) => line(event) ?? [])
}

function line({ type, data }: SessionEvent): string | undefined {
  if (type === 'request/failed') return `failed ${data.step}/${data.attempt} ${data.failure.code}`
  if (type === 'request/retry') return `retry ${data.step}/${data.retry} of ${data.maxRetries} in ${data.delayMs}`
  if (type === 'turn/end') return `end ${data.reason.kind}`
  return undefined
}
