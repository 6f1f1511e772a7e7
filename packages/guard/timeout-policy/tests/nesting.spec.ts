import * as timeoutPolicy from '@loopguard/timeout-policy'
import { deadline } from '@loopguard/timeout'
import { scopeTo, type ToolAgent, type ToolExecutionResult } from '@loopguard/tools'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { aborted, assertNoTimer, Hanging, Host, timedOut } from './host.ts'

let host: Host

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  host = await Host.start()
})
afterEach(() => {
  assertNoTimer()
  vi.useRealTimers()
})

describe('a tool that calls another tool', () => {
  let innerResult: ToolExecutionResult | undefined

  async function nested(outerMs: number, innerMs: number, inner: Hanging) {
    await host.ctx.plugin(timeoutPolicy)
    innerResult = undefined
    host.tool('inner', innerMs, inner.body)
    host.tool('outer', outerMs, async (exec) => {
      innerResult = await host.call('inner', { signal: exec.signal, parent: exec.token })
      return 'the outer goes on'
    })
    const call = host.call('outer')
    await inner.started()
    vi.advanceTimersByTime(Math.min(outerMs, innerMs))
    return call
  }

  it('outer budget ends first: a timeout for the outer call, an ordinary cancel for the inner', async () => {
    expect(await nested(40, 60_000, new Hanging(() => 'late'))).toEqual(timedOut(40))
    expect(innerResult).toMatchObject({ error: { message: 'tool call aborted', info: { name: 'AbortError', code: 'ABORTED' } } })
  })

  it('outer budget ends first: an ordinary cancel also for an inner body that hands its reason back', async () => {
    expect(await nested(40, 60_000, new Hanging())).toEqual(timedOut(40))
    expect(innerResult).toMatchObject({ error: { message: 'tool call aborted', info: { name: 'AbortError', code: 'ABORTED' } } })
  })

  it('outer budget ends first: an inner body that fails keeps its own error', async () => {
    const inner = new Hanging(() => {
      throw new Error('socket closed')
    })
    expect(await nested(40, 60_000, inner)).toEqual(timedOut(40))
    expect(innerResult).toMatchObject({ isError: true, error: { message: 'socket closed' } })
  })

  it('inner budget ends first: the outer call gets that result and goes on', async () => {
    expect(await nested(60_000, 40, new Hanging())).toMatchObject({ isError: false, content: [{ text: 'the outer goes on' }] })
    expect(innerResult).toEqual(timedOut(40))
  })
})

describe('another deadline with the code TOOL_TIMEOUT', () => {
  it('around the policy, that ends first, is a cancel for the policy', async () => {
    host.ctx.on('tools/execute', async (exec, next) => {
      using limit = deadline(exec.signal, 40, timeoutPolicy.TOOL_TIMEOUT)
      exec.signal = limit.signal
      return await next()
    })
    await host.ctx.plugin(timeoutPolicy)
    const slow = new Hanging(() => 'late')
    host.tool('slow', 60_000, slow.body)
    const call = host.call('slow')
    await slow.started()
    vi.advanceTimersByTime(40)
    expect(await call).toEqual({ isError: false, content: [{ type: 'text', text: 'late' }] })
  })

  it('around the policy, that ends first, is no timeout of a body that hands its reason back', async () => {
    host.ctx.on('tools/execute', async (exec, next) => {
      using limit = deadline(exec.signal, 40, timeoutPolicy.TOOL_TIMEOUT)
      exec.signal = limit.signal
      return await next()
    })
    await host.ctx.plugin(timeoutPolicy)
    const slow = new Hanging()
    host.tool('slow', 60_000, slow.body)
    const call = host.call('slow')
    await slow.started()
    vi.advanceTimersByTime(40)
    expect(await call).toMatchObject({ error: { message: 'tool call aborted', info: { name: 'AbortError', code: 'ABORTED' } } })
  })

  it('of a tool’s own, that ends first, is an error of the tool’s own', async () => {
    await host.ctx.plugin(timeoutPolicy)
    host.tool('slow', 60_000, async (exec) => {
      using limit = deadline(exec.signal, 40, 'READ_TIMEOUT')
      vi.advanceTimersByTime(40)
      await aborted(limit.signal)
      throw limit.signal.reason
    })
    expect(await host.call('slow')).toMatchObject({ error: { message: 'READ_TIMEOUT after 40ms', info: { code: 'READ_TIMEOUT' } } })
  })

  it('inside the policy, that ends first, leaves the policy’s own running', async () => {
    await host.ctx.plugin(timeoutPolicy)
    host.tool('slow', 60_000, async (exec) => {
      using limit = deadline(exec.signal, 40, timeoutPolicy.TOOL_TIMEOUT)
      vi.advanceTimersByTime(40)
      await aborted(limit.signal)
      return `aborted: ${exec.signal.aborted}`
    })
    expect(await host.call('slow')).toMatchObject({ isError: false, content: [{ text: 'aborted: false' }] })
  })
})

describe('two of them', () => {
  async function time() {
    const slow = new Hanging()
    host.tool('slow', 50, slow.body)
    const call = host.call('slow')
    await slow.started()
    vi.advanceTimersByTime(50)
    return call
  }

  it('the plugin mounted twice: one timeout, one result', async () => {
    await host.ctx.plugin(timeoutPolicy)
    await host.ctx.plugin(timeoutPolicy)
    expect(await time()).toEqual(timedOut(50))
  })

  it('two loaded copies of the plugin: one timeout, one result', async () => {
    const entry = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? '../lib/index.js?copy' : '../src/index.ts?copy'
    const copy = (await import(/* @vite-ignore */ entry)) as typeof timeoutPolicy
    expect(copy.apply).not.toBe(timeoutPolicy.apply)
    await host.ctx.plugin(copy)
    await host.ctx.plugin(timeoutPolicy)
    expect(await time()).toEqual(timedOut(50))
  })
})

describe('budgets of one agent', () => {
  const agentOf = (id: string): ToolAgent => {
    const agent = { id: id as ToolAgent['id'], ctx: host.ctx }
    agent.ctx = scopeTo(host.ctx, agent)
    return agent
  }

  it('an agent’s own tool brings its own budget, and shadows that of the shared one for this agent alone', async () => {
    await host.ctx.plugin(timeoutPolicy)
    const [first, second] = [agentOf('first'), agentOf('second')]
    const slow = new Hanging()
    host.tool('slow', 1_000, slow.body)
    host.tool('slow', 50, slow.body, first.ctx)
    const mine = host.call('slow', { agent: first })
    const theirs = host.call('slow', { agent: second })
    const nobodys = host.call('slow')
    await slow.started(3)
    vi.advanceTimersByTime(50)
    expect(await mine).toEqual(timedOut(50))
    expect(slow.signals.map((signal) => signal.aborted)).toEqual([true, false, false])
    vi.advanceTimersByTime(950)
    expect(await theirs).toEqual(timedOut(1_000))
    expect(await nobodys).toEqual(timedOut(1_000))
  })

  it('an agent’s own tool without a budget is free of that of the shared one', async () => {
    await host.ctx.plugin(timeoutPolicy)
    const agent = agentOf('free')
    host.tool('slow', 50, () => 'shared')
    host.tool('slow', undefined, () => `timers: ${vi.getTimerCount()}`, agent.ctx)
    expect(await host.call('slow', { agent })).toMatchObject({ content: [{ text: 'timers: 0' }] })
  })

  it('a policy that is mounted for one agent bounds the calls of this agent alone', async () => {
    const [guarded, unguarded] = [agentOf('guarded'), agentOf('unguarded')]
    await guarded.ctx.plugin(timeoutPolicy)
    host.tool('slow', 50, () => `timers: ${vi.getTimerCount()}`)
    expect(await host.call('slow', { agent: guarded })).toMatchObject({ content: [{ text: 'timers: 1' }] })
    expect(await host.call('slow', { agent: unguarded })).toMatchObject({ content: [{ text: 'timers: 0' }] })
    expect(await host.call('slow')).toMatchObject({ content: [{ text: 'timers: 0' }] })
  })
})
