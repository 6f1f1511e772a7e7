import { Context } from '@deepseek-ai/cordis'
import { createHarness, fakeClock, type InvariantWatch, mountInvariants } from '@loopguard/testkit'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import type { ToolDispatchExecution, ToolExecutionResult } from '@loopguard/tools'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { aborted, Hanging, Host, text, timedOut } from './host.ts'

const OWN = { package_allowlist: ['^@loopguard/timeout-policy$'] }

afterEach(() => {
  vi.useRealTimers()
})

/** Cordis' own waterfall, in which nobody but a wrapper itself puts a signal back. */
async function plainHost() {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  const watch = await mountInvariants(ctx, OWN)
  const call = (body: () => Promise<ToolExecutionResult> = () => Promise.resolve(done)): Promise<ToolExecutionResult> => {
    const { signal } = new AbortController()
    const exec = { name: 'slow', callId: 'call-1', signal } as unknown as ToolDispatchExecution
    return ctx.waterfall('tools/execute', exec, body)
  }
  return { ctx, watch, call }
}

async function watchedHost(): Promise<{ host: Host; watch: InvariantWatch }> {
  const host = await Host.start({ invariants: false })
  onTestFinished(() => host.ctx.fiber.dispose())
  return { host, watch: await mountInvariants(host.ctx, OWN) }
}

const done = text('done') as ToolExecutionResult
const forget = (exec: ToolDispatchExecution, next: () => Promise<ToolExecutionResult>): Promise<ToolExecutionResult> => {
  exec.signal = new AbortController().signal
  return next()
}

describe('after the execute stage the signal is that of the caller again', () => {
  it('trips when a wrapper forgets to put the signal back', async () => {
    const { ctx, watch, call } = await plainHost()
    ctx.on('tools/execute', forget)
    await expect(call()).rejects.toMatchObject({ name: 'InvariantError', packageName: '@loopguard/timeout-policy' })
    watch.assertBroken(
      '@loopguard/timeout-policy',
      /call "call-1" of tool "slow": exec.signal is not the caller's after the execute stage$/,
    )
  })

  it('trips when a wrapper that fails forgets to put the signal back', async () => {
    const { ctx, watch, call } = await plainHost()
    ctx.on('tools/execute', forget)
    await expect(call(() => Promise.reject(new Error('broken')))).rejects.toThrow('exec.signal is not the caller')
    watch.assertBroken('@loopguard/timeout-policy', /exec.signal is not the caller's after the execute stage$/)
  })
})

describe('no call is reported as timed out before its budget has passed', () => {
  it('trips when a wrapper reports a timeout at once', async () => {
    const { host, watch } = await watchedHost()
    host.tool('slow', 60_000, () => 'done')
    host.ctx.on('tools/execute', () => Promise.resolve(timedOut(60_000) as ToolExecutionResult))
    expect(await host.call('slow')).toMatchObject({ error: { info: { name: 'InvariantError', code: 'INVARIANT' } } })
    watch.assertBroken(
      '@loopguard/timeout-policy',
      /call "call-1" of tool "slow": it was reported as timed out after 60000ms when \d+ms had passed$/,
    )
  })

  it('trips when the deadline fires early', async () => {
    using clock = fakeClock()
    const { host, watch } = await watchedHost()
    await host.ctx.plugin(timeoutPolicy)
    const slow = new Hanging()
    host.tool('slow', 100, slow.body)
    const { setTimeout } = globalThis
    globalThis.setTimeout = ((callback: () => void, ms: number, ...args: []) =>
      setTimeout(callback, ms * 0.9, ...args)) as typeof setTimeout
    const call = host.call('slow')
    await slow.started()
    await clock.advance(90)
    expect(await call).toMatchObject({ error: { info: { code: 'INVARIANT' } } })
    watch.assertBroken('@loopguard/timeout-policy', /reported as timed out after 100ms when 90ms had passed$/)
  })
})

describe('the companion is silent about', () => {
  it('timeouts, cancels, retries and calls without a budget, on the real clock', async () => {
    const { host, watch } = await watchedHost()
    await host.ctx.plugin(timeoutPolicy)
    let attempts = 0
    host.ctx.on(
      'tools/execute',
      async (_exec, next) => {
        await next()
        attempts++
        return next()
      },
      { prepend: true },
    )
    const wait = async ({ signal }: { readonly signal: AbortSignal }): Promise<string> => {
      await aborted(signal)
      return 'late'
    }
    host.tool('slow', 5, wait)
    host.tool('fraction', 1.5, wait)
    host.tool('free', undefined, () => 'done')
    host.tool('own', 60_000, () => {
      throw Object.assign(new Error('upstream timed out'), { name: 'ToolTimeoutError', code: 'TOOL_TIMEOUT' })
    })
    const caller = new AbortController()
    const cancelled = host.call('slow', { signal: caller.signal })
    caller.abort()
    const results = await Promise.all([host.call('slow'), host.call('fraction'), host.call('free'), host.call('own'), cancelled])
    expect(results.slice(0, 3)).toEqual([timedOut(5), timedOut(1.5), done])
    expect(results[3]).toMatchObject({ error: { message: 'upstream timed out' } })
    expect(attempts).toBe(results.length)
    watch.assertNone()
  })

  it('a timeout inside of a call that hands it on', async () => {
    const { host, watch } = await watchedHost()
    await host.ctx.plugin(timeoutPolicy)
    host.tool('inner', 10, async ({ signal }) => {
      await aborted(signal)
      return 'late'
    })
    host.tool('outer', 60_000, async ({ signal, token }) => {
      const inner = await host.call('inner', { signal, parent: token })
      if (!inner.isError) return 'done'
      throw Object.assign(new Error(inner.error.message), inner.error.info)
    })
    expect(await host.call('outer')).toEqual(timedOut(10))
    watch.assertNone()
  })

  it.each<[string, () => (ms: number) => unknown]>([
    [
      'that stand in for the timers alone',
      () => (vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }), (ms) => vi.advanceTimersByTime(ms)),
    ],
    ['of the test runner', () => (vi.useFakeTimers(), (ms) => vi.advanceTimersByTime(ms))],
    [
      'of the testkit',
      () => {
        const clock = fakeClock()
        onTestFinished(() => clock.restore())
        return (ms) => clock.advance(ms)
      },
    ],
  ])('fake clocks %s', async (_which, start) => {
    const { host, watch } = await watchedHost()
    await host.ctx.plugin(timeoutPolicy)
    const slow = new Hanging()
    host.tool('slow', 60_000, slow.body)
    const advance = start()
    const call = host.call('slow')
    await slow.started()
    await advance(60_000)
    expect(await call).toEqual(timedOut(60_000))
    watch.assertNone()
  })

  it('a clock that is put back while a call runs', async () => {
    const clock = fakeClock()
    onTestFinished(() => clock.restore())
    const { host, watch } = await watchedHost()
    const slow = new Hanging(() => 'late')
    host.tool('slow', 100, slow.body)
    host.ctx.on('tools/execute', async (_exec, next) => {
      await next()
      return timedOut(60_000) as ToolExecutionResult
    })
    const caller = new AbortController()
    const call = host.call('slow', { signal: caller.signal })
    await slow.started()
    clock.restore()
    caller.abort()
    expect(await call).toEqual(timedOut(60_000))
    watch.assertNone()
  })

  it('a host whose wrapper returns nothing', async () => {
    const { ctx, watch, call } = await plainHost()
    ctx.on('tools/execute', () => Promise.resolve(undefined as never))
    expect(await call()).toBeUndefined()
    watch.assertNone()
  })

  it('what it sees once it is unloading', async () => {
    const { ctx, watch, call } = await plainHost()
    ctx.on('tools/execute', async (exec, next) => {
      const registration = ctx.invariants.registrations().find(({ packageName }) => packageName === '@loopguard/timeout-policy')
      await registration?.fiber?.dispose()
      return forget(exec, next)
    })
    expect(await call()).toBe(done)
    watch.assertNone()
  })

  it('an agent that is cancelled and disposed of while a call with a budget runs', async () => {
    const slow = new Hanging()
    const harness = await createHarness({
      script: [{ calls: [{ name: 'slow', arguments: {} }] }],
      plugins: [timeoutPolicy],
      tools: [{ name: 'slow', description: '', parameters: {}, timeoutMs: 60_000, execute: (_args, exec) => slow.body(exec) }],
    })
    const agent = harness.agent()
    const said = harness.say(agent, 'go')
    await slow.started()
    await agent.dispose()
    await said
    await expect(harness.dispose()).resolves.toBeUndefined()
  })
})
