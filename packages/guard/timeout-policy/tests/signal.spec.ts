import { getEventListeners } from 'node:events'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Hanging, Host, text, timedOut } from './host.ts'

let host: Host
/** `exec.signal` around the policy, before and after each call. */
let outside: AbortSignal[][]
/** `exec.signal` within the policy, in each attempt. */
let inside: AbortSignal[]

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  host = await Host.start()
  outside = []
  inside = []
  host.ctx.on('tools/execute', async (exec, next) => {
    const before = exec.signal
    try {
      return await next()
    } finally {
      outside.push([before, exec.signal])
    }
  })
  await host.ctx.plugin(timeoutPolicy)
  host.ctx.on('tools/execute', (exec, next) => {
    inside.push(exec.signal)
    return next()
  })
})
afterEach(() => vi.useRealTimers())

describe('a tool without a budget', () => {
  it('is delegated untouched: wrappers and body get the very signal of the caller, and no timer is armed', async () => {
    const { signal } = new AbortController()
    const seen: AbortSignal[] = []
    host.tool('plain', undefined, (exec) => {
      seen.push(exec.signal)
      return `timers: ${vi.getTimerCount()}`
    })
    expect(await host.call('plain', { signal })).toEqual(text('timers: 0'))
    expect([...seen, ...inside]).toEqual([signal, signal])
    expect(seen[0]).toBe(signal)
    expect(inside[0]).toBe(signal)
    expect(outside).toEqual([[signal, signal]])
  })
})

describe('a tool with a budget', () => {
  it('gives what is downstream a derived signal, and the caller’s own back to what is outside', async () => {
    const { signal } = new AbortController()
    host.tool('quick', 50, () => 'done')
    await host.call('quick', { signal })
    expect(inside[0]).not.toBe(signal)
    expect(inside[0]?.aborted).toBe(false)
    expect(outside[0]?.[0]).toBe(signal)
    expect(outside[0]?.[1]).toBe(signal)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('gives it back also after a failure, a timeout and a cancel', async () => {
    host.tool('broken', 50, () => {
      throw new Error('broken')
    })
    const slow = new Hanging()
    host.tool('slow', 50, slow.body)
    const failed = new AbortController()
    await host.call('broken', { signal: failed.signal })
    const late = new AbortController()
    const timing = host.call('slow', { signal: late.signal })
    await slow.started(1)
    vi.advanceTimersByTime(50)
    expect(await timing).toEqual(timedOut(50))
    const left = new AbortController()
    const cancelling = host.call('slow', { signal: left.signal })
    await slow.started(2)
    left.abort('stop')
    await cancelling
    for (const [index, { signal }] of [failed, late, left].entries()) {
      expect(outside[index]?.[0]).toBe(signal)
      expect(outside[index]?.[1]).toBe(signal)
      expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    }
    expect(vi.getTimerCount()).toBe(0)
  })

  it('lets post-execute and result listeners see the caller’s own signal', async () => {
    const { signal } = new AbortController()
    const seen: AbortSignal[] = []
    host.ctx.on('tools/post-execute', (exec, _result, next) => {
      seen.push(exec.signal)
      return next()
    })
    host.ctx.on('tools/result', (exec) => void seen.push(exec.signal))
    host.tool('quick', 50, () => 'done')
    await host.call('quick', { signal })
    expect(seen[0]).toBe(signal)
    expect(seen[1]).toBe(signal)
  })

  it('two thousand calls at once under one signal raise no warning and share one listener', async () => {
    const warn = vi.spyOn(process, 'emitWarning')
    const user = new AbortController()
    const slow = new Hanging()
    host.tool('slow', 60_000, slow.body)
    const calls = Array.from({ length: 2_000 }, () => host.call('slow', { signal: user.signal }))
    await slow.started(2_000)
    expect(getEventListeners(user.signal, 'abort').length).toBeLessThanOrEqual(2)
    user.abort(new Error('the user left'))
    const results = await Promise.all(calls)
    expect(results.every((result) => result.isError)).toBe(true)
    expect(getEventListeners(user.signal, 'abort')).toHaveLength(0)
    expect(vi.getTimerCount()).toBe(0)
    expect(warn).not.toHaveBeenCalled()
    warn.mockRestore()
  }, 30_000)
})
