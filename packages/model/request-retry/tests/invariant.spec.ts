import { createHarness, type InvariantWatch, mountInvariants } from '@loopguard/testkit'
import * as requestRetry from '@loopguard/request-retry'
import * as requestRetryInvariant from '@loopguard/request-retry/invariant'
import type { SessionEventMap } from '@loopguard/session'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fails, told } from './stage.ts'

type Retry = SessionEventMap['request/retry']

/** A plugin that logs a retry of its own making of each failed attempt, and the companion; no other retries. */
async function retriedBy(change: (retry: Retry) => Partial<Retry> | undefined): Promise<InvariantWatch> {
  const harness = await createHarness({ invariants: false, script: [fails(), fails(), fails(), { text: 'ok' }] })
  onTestFinished(() => harness.dispose())
  const watch = await mountInvariants(harness.ctx, { package_allowlist: ['^@loopguard/request-retry$'] })
  await harness.ctx.plugin(requestRetryInvariant)
  let retry = 0
  harness.ctx.on('agent/request-error', async ({ agent, turn, step, failure }) => {
    const made: Retry = { turn, step, retry: ++retry, maxRetries: 5, delayMs: 0, failure }
    const changed = change(made)
    if (changed !== undefined) agent.session.append('request/retry', { ...made, ...changed })
    return { kind: 'retry' }
  })
  await harness.say(harness.agent(), 'hi')
  return watch
}

const OWN = '@loopguard/request-retry'

describe('each retry answers an attempt that failed, and is counted', () => {
  it('trips when a retry tells of another failure', async () => {
    const watch = await retriedBy(({ failure }) => ({ failure: { ...failure, code: 'OTHER' } }))
    expect(watch.violations.length).toBeGreaterThan(0)
    watch.assertBroken(OWN, /session "agent-1", step 1: a retry answers no attempt that failed$/)
  })

  it('trips when a retry is counted twice', async () => {
    const watch = await retriedBy(() => ({ retry: 1 }))
    expect(watch.violations.length).toBeGreaterThan(0)
    watch.assertBroken(OWN, /step 1: retry 1 is number 2 of its step$/)
  })

  it('trips when there are more retries than allowed', async () => {
    const watch = await retriedBy(() => ({ maxRetries: 1 }))
    expect(watch.violations.length).toBeGreaterThan(0)
    watch.assertBroken(OWN, /step 1: retry 2 of at most 1$/)
  })

  it('trips when one failed attempt is retried twice', async () => {
    const harness = await createHarness({ invariants: false, script: [fails(), { text: 'ok' }] })
    onTestFinished(() => harness.dispose())
    await harness.ctx.plugin(requestRetry, { baseDelayMs: 1 })
    const watch = await mountInvariants(harness.ctx, { package_allowlist: ['^@loopguard/request-retry$'] })
    await harness.ctx.plugin(requestRetryInvariant)
    harness.ctx.on('session/event', (session, { type, data }) => {
      if (type === 'request/retry' && data.retry === 1) session.append(type, { ...data, retry: 2 })
    })
    await harness.say(harness.agent(), 'hi')
    expect(watch.violations.length).toBeGreaterThan(0)
    watch.assertBroken(OWN, /step 1: retry 2 comes after 1 failed attempts$/)
  })
})

describe('the companion is silent about', () => {
  it('retries as the plugin makes them', async () => {
    const harness = await createHarness({
      script: [fails(), fails(), { text: 'ok' }],
      plugins: [[requestRetry, { baseDelayMs: 1 }], requestRetryInvariant],
    })
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(told(agent)).toHaveLength(5)
    await harness.dispose()
  })
})
