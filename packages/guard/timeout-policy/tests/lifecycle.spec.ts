import { getEventListeners } from 'node:events'
import { Context } from '@deepseek-ai/cordis'
import ToolRuntime from '@loopguard/tools'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import { watchContexts } from '@loopguard/testkit'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { assertNoTimer, Hanging, Host, text, timedOut } from './host.ts'

afterAll(watchContexts())

let host: Host

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  host = await Host.start()
})
afterEach(() => {
  assertNoTimer()
  vi.useRealTimers()
})

const armed = () => `timers: ${vi.getTimerCount()}`

describe('the plugin', () => {
  it('exports what a composition reads', () => {
    expect(timeoutPolicy.name).toBe('timeout-policy')
    expect(timeoutPolicy.inject).toEqual(['tools'])
    expect(timeoutPolicy.TOOL_TIMEOUT).toBe('TOOL_TIMEOUT')
    expect(Object.keys(timeoutPolicy).toSorted()).toEqual(['Config', 'TOOL_TIMEOUT', 'apply', 'inject', 'name'])
  })

  it('waits for a host, and starts when there is one', async () => {
    const ctx = new Context()
    const policy = ctx.plugin(timeoutPolicy)
    await policy
    await ctx.plugin(ToolRuntime)
    await policy.await()
    ctx.tools.register({ name: 'quick', description: '', parameters: {}, timeoutMs: 50, execute: armed })
    const call = { callId: 'call-1' as never, name: 'quick', arguments: {}, signal: new AbortController().signal }
    expect(await ctx.tools.execute(call)).toEqual(text('timers: 1'))
  })

  it('is gone after it was disposed of', async () => {
    const policy = host.ctx.plugin(timeoutPolicy)
    await policy
    host.tool('quick', 50, armed)
    expect(await host.call('quick')).toEqual(text('timers: 1'))
    await policy.dispose()
    expect(await host.call('quick')).toEqual(text('timers: 0'))
  })

  it('mounted again, it bounds calls again, once each', async () => {
    const policy = host.ctx.plugin(timeoutPolicy)
    await policy
    await policy.dispose()
    await host.ctx.plugin(timeoutPolicy)
    host.tool('quick', 50, armed)
    expect(await host.call('quick')).toEqual(text('timers: 1'))
  })
})

describe('a call in flight when the plugin is disposed of', () => {
  it('keeps its deadline', async () => {
    const policy = host.ctx.plugin(timeoutPolicy)
    await policy
    const user = new AbortController()
    const slow = new Hanging()
    host.tool('slow', 50, slow.body)
    const call = host.call('slow', { signal: user.signal })
    await slow.started()
    await policy.dispose()
    vi.advanceTimersByTime(50)
    expect(await call).toEqual(timedOut(50))
    expect(getEventListeners(user.signal, 'abort')).toHaveLength(0)
  })

  it('gives its further attempts a deadline as well', async () => {
    host.ctx.on('tools/execute', async (_exec, next) => {
      const result = await next()
      return result.isError ? next() : result
    })
    const policy = host.ctx.plugin(timeoutPolicy)
    await policy
    const slow = new Hanging()
    host.tool('slow', 50, slow.body)
    const call = host.call('slow')
    await slow.started(1)
    await policy.dispose()
    vi.advanceTimersByTime(50)
    await slow.started(2)
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(50)
    expect(await call).toEqual(timedOut(50))
  })
})

describe('a budget that changes', () => {
  it('while a call runs: the call keeps the one it started with, the next gets the new one', async () => {
    await host.ctx.plugin(timeoutPolicy)
    const slow = new Hanging()
    const tool = host.tool('slow', 50, slow.body)
    const first = host.call('slow')
    await slow.started(1)
    tool.timeoutMs = 1_000
    const second = host.call('slow')
    await slow.started(2)
    vi.advanceTimersByTime(50)
    expect(await first).toEqual(timedOut(50))
    expect(slow.signals[1]?.aborted).toBe(false)
    vi.advanceTimersByTime(950)
    expect(await second).toEqual(timedOut(1_000))
  })

  it('because the tool is registered anew while a call runs: the same', async () => {
    await host.ctx.plugin(timeoutPolicy)
    const slow = new Hanging()
    const remove = host.ctx.tools.register({
      name: 'slow',
      description: '',
      parameters: {},
      timeoutMs: 50,
      execute: (_args, exec) => slow.body(exec),
    })
    const first = host.call('slow')
    await slow.started(1)
    remove()
    host.tool('slow', undefined, () => 'quick now')
    expect(await host.call('slow')).toEqual(text('quick now'))
    vi.advanceTimersByTime(50)
    expect(await first).toEqual(timedOut(50))
  })
})
