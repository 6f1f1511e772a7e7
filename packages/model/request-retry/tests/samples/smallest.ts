import { LlmError } from '@loopguard/llm'
import * as requestRetry from '@loopguard/request-retry'
import { createHarness, type Harness } from '@loopguard/testkit'

/** A provider that is busy once, and then answers. */
export const harness: Harness = await createHarness({
  plugins: [[requestRetry, { baseDelayMs: 10 }]],
  script: [
    () => {
      throw new LlmError('try later', 'RATE_LIMIT', { status: 429, retryable: true })
    },
    { text: 'Here I am.' },
  ],
})

const agent = harness.agent()
await harness.say(agent, 'Are you there?')
console.log(agent.session.events.map(({ type }) => type).filter((type) => type.startsWith('request/')))
