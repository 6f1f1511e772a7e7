import type { Agent } from '@loopguard/agent-loop'
import { createHarness, type HarnessPlugin, userMessage } from '@loopguard/testkit'
import * as requestRetry from '@loopguard/request-retry'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { fails, stage, told } from './stage.ts'

const looks = { calls: [{ name: 'look', arguments: {} }] }
const look = { name: 'look', description: 'Looks.', parameters: {}, execute: () => 'ok' }

describe('a failed request', () => {
  it('that may pass is asked again after a wait, which the log tells before it starts', async () => {
    const { agent, clock, start, harness } = await stage({ script: [fails(), { text: 'ok' }] })
    await start()
    expect(told(agent)).toEqual(['failed 1/1 RATE_LIMIT', 'retry 1/1 of 5 in 500'])
    expect(agent.session.events.at(-1)?.data).toEqual({
      turn: 1,
      step: 1,
      retry: 1,
      maxRetries: 5,
      delayMs: 500,
      failure: { message: 'it is RATE_LIMIT', code: 'RATE_LIMIT', retryable: true },
    })
    await clock.advance(499)
    expect(harness.model.count).toBe(1)
    await clock.advance(1)
    expect(told(agent)).toEqual(['failed 1/1 RATE_LIMIT', 'retry 1/1 of 5 in 500', 'end completed'])
    expect(clock.pending).toBe(0)
  })

  it.each([{ retryable: false }, {}])('that says %j of itself ends the turn', async (options) => {
    const { agent, start } = await stage({ script: [fails('AUTH', options)] })
    await start()
    expect(told(agent)).toEqual(['failed 1/1 AUTH', 'end error'])
  })

  it('is retried by its code alone when codes are configured', async () => {
    const { agent, start, clock } = await stage({
      script: [fails('ODD', {}), fails('AUTH', { retryable: true })],
      config: { codes: ['ODD'] },
    })
    await start()
    await clock.advance(500)
    expect(told(agent)).toEqual(['failed 1/1 ODD', 'retry 1/1 of 5 in 500', 'failed 1/2 AUTH', 'end error'])
  })

  it.each([{ maxRetries: 0 }, { codes: [] }])('is never retried with %j', async (config) => {
    const { agent, start } = await stage({ script: [fails()], config })
    await start()
    expect(told(agent)).toEqual(['failed 1/1 RATE_LIMIT', 'end error'])
  })
})

describe('the wait', () => {
  it('doubles up to its maximum, and ends with the last retry', async () => {
    const config = { maxRetries: 4, baseDelayMs: 100, maxDelayMs: 300 }
    const { agent, clock, start } = await stage({ script: Array.from({ length: 5 }, () => fails()), config })
    await start()
    await clock.advance(1_000)
    expect(told(agent).filter((line) => !line.startsWith('failed'))).toEqual([
      'retry 1/1 of 4 in 100',
      'retry 1/2 of 4 in 200',
      'retry 1/3 of 4 in 300',
      'retry 1/4 of 4 in 300',
      'end error',
    ])
  })

  it.each([
    [0, 450],
    [0.999_999, 550],
  ])('is spread by a tenth: %d gives %d', async (random, delayMs) => {
    const { agent, start } = await stage({ script: [fails()] })
    vi.spyOn(Math, 'random').mockReturnValue(random)
    await start()
    expect(told(agent)).toContain(`retry 1/1 of 5 in ${delayMs}`)
  })

  it.each([
    [7_000, 7_000],
    [60_000, 60_000],
    [0, 0],
    [1.2, 2],
  ])('is what the provider asks for, as it is: %d', async (retryAfterMs, delayMs) => {
    const { agent, start } = await stage({ script: [fails('RATE_LIMIT', { retryable: true, retryAfterMs }), { text: 'ok' }] })
    await start()
    expect(told(agent)).toContain(`retry 1/1 of 5 in ${delayMs}`)
  })

  it('is none when the provider asks for too long', async () => {
    const { agent, start } = await stage({ script: [fails('RATE_LIMIT', { retryable: true, retryAfterMs: 60_001 })] })
    await start()
    expect(told(agent)).toEqual(['failed 1/1 RATE_LIMIT', 'end error'])
  })

  it('fits a timer, the longest that can be configured too', async () => {
    const longest = 1_900_000_000
    const { agent, start } = await stage({ script: [fails()], config: { baseDelayMs: longest, maxDelayMs: longest } })
    vi.spyOn(Math, 'random').mockReturnValue(0.999_999)
    await start()
    const [, delayMs] = /in (\d+)$/.exec(told(agent).at(-1) ?? '') ?? []
    expect(Number(delayMs)).toBeGreaterThan(longest)
    expect(Number(delayMs)).toBeLessThan(2 ** 31)
  })
})

describe('attempts are counted', () => {
  const config = { maxRetries: 1 }

  it('anew in each step and in each turn', async () => {
    const { agent, clock, start } = await stage({
      script: [fails(), looks, fails(), { text: 'a' }, fails(), { text: 'b' }],
      config,
      tools: [look],
    })
    await start()
    await clock.advance(1_000)
    await start()
    await clock.advance(500)
    expect(told(agent)).toEqual([
      'failed 1/1 RATE_LIMIT',
      'retry 1/1 of 1 in 500',
      'failed 2/1 RATE_LIMIT',
      'retry 2/1 of 1 in 500',
      'end completed',
      'failed 1/1 RATE_LIMIT',
      'retry 1/1 of 1 in 500',
      'end completed',
    ])
  })

  it('for each agent by itself', async () => {
    const { agent, harness, clock, start } = await stage({ script: [fails(), fails(), { text: 'a' }, { text: 'b' }], config })
    const other = harness.agent()
    await start()
    await start(other)
    await clock.advance(500)
    for (const each of [agent, other]) expect(told(each)).toEqual(['failed 1/1 RATE_LIMIT', 'retry 1/1 of 1 in 500', 'end completed'])
  })
})

describe('other listeners', () => {
  const answering = (answer: { kind: 'retry' } | undefined, after = true): HarnessPlugin => ({
    name: 'other',
    apply: (ctx) =>
      ctx.on('agent/request-error', async (_event, next) => {
        if (after) await next()
        return answer
      }),
  })

  it('one that stands inside and retries at once is not made to wait', async () => {
    const { agent, start } = await stage({ script: [fails(), { text: 'ok' }], plugins: [answering({ kind: 'retry' })] })
    await start()
    expect(told(agent)).toEqual(['failed 1/1 RATE_LIMIT', 'end completed'])
  })

  it('one that stands outside decides after it', async () => {
    const harness = await createHarness({ script: [fails()], plugins: [answering(undefined), [requestRetry, { baseDelayMs: 1 }]] })
    onTestFinished(() => harness.dispose())
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(told(agent)).toEqual(['failed 1/1 RATE_LIMIT', expect.stringMatching(/^retry 1\/1 of 5 in 1$/), 'end error'])
  })
})

/** How many listeners are on the signals that the plugin was given. */
function watchListeners() {
  let count = 0
  // oxlint-disable-next-line typescript/unbound-method -- called on the signal below
  const { addEventListener: add, removeEventListener: remove } = AbortSignal.prototype
  vi.spyOn(AbortSignal.prototype, 'addEventListener').mockImplementation(function (this: AbortSignal, ...args: Parameters<typeof add>) {
    count++
    return add.apply(this, args)
  })
  vi.spyOn(AbortSignal.prototype, 'removeEventListener').mockImplementation(function (this: AbortSignal, ...args: Parameters<typeof add>) {
    count--
    return remove.apply(this, args)
  })
  onTestFinished(() => void vi.restoreAllMocks())
  return () => count
}

describe('a wait that is ended', () => {
  const ways: [string, (agent: Agent, unload: () => unknown) => unknown, string][] = [
    ['a cancel', (agent) => agent.cancel(), 'end aborted'],
    ['the disposal of the agent', (agent) => void agent.dispose(), 'end aborted'],
    ['the unloading of the plugin', (_agent, unload) => unload(), 'end error'],
  ]

  it.each(ways)('by %s ends at once, logs nothing more, and leaves neither timer nor listener', async (_what, end, reason) => {
    const { agent, clock, harness, start } = await stage({ script: [fails(), { text: 'never' }] })
    const listeners = watchListeners()
    await start()
    expect([clock.pending, listeners()]).toEqual([1, 1])
    const fibers = [...harness.ctx.registry.values()].find(({ name }) => name === 'request-retry')?.fibers
    void end(agent, () => [...(fibers ?? [])].map((fiber) => fiber.dispose()))
    await clock.advance(0)
    expect([clock.pending, listeners()]).toEqual([0, 0])
    expect(told(agent)).toEqual(['failed 1/1 RATE_LIMIT', 'retry 1/1 of 5 in 500', reason])
    expect(harness.model.count).toBe(1)
  })

  it('by its time leaves no listener either', async () => {
    const { clock, start } = await stage({ script: [fails(), { text: 'ok' }] })
    const listeners = watchListeners()
    await start()
    await clock.advance(500)
    expect([clock.pending, listeners()]).toEqual([0, 0])
  })

  it('by a cancel lets the next message have its turn, with all its retries', async () => {
    const { agent, clock, start } = await stage({ script: [fails(), fails(), { text: 'ok' }], config: { maxRetries: 1 } })
    await start()
    agent.cancel()
    agent.followup(userMessage('again'))
    await clock.advance(500)
    expect(told(agent)).toEqual([
      'failed 1/1 RATE_LIMIT',
      'retry 1/1 of 1 in 500',
      'end aborted',
      'failed 1/1 RATE_LIMIT',
      'retry 1/1 of 1 in 500',
      'end completed',
    ])
  })

  it('is not begun after a cancel, which a listener inside brings', async () => {
    const { agent, clock, start } = await stage({
      script: [fails()],
      plugins: [
        {
          name: 'canceller',
          apply: (ctx) =>
            ctx.on('agent/request-error', async ({ agent: whose }) => {
              whose.cancel()
              return undefined
            }),
        },
      ],
    })
    await start()
    expect(told(agent)).toEqual(['failed 1/1 RATE_LIMIT', 'end aborted'])
    expect(clock.pending).toBe(0)
  })
})
