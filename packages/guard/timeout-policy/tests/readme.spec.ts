import { readFile } from 'node:fs/promises'
import { watchContexts } from '@loopguard/testkit'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { assertNoTimer, Hanging, Host, text, timedOut } from './host.ts'
import { measureBodies, measureResults } from './samples/metrics.ts'
import { deadlineForAll, deadlinePerAttempt } from './samples/retry.ts'

afterAll(watchContexts())

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')

it('the smallest example runs, and the model reads the text that the README shows', async () => {
  const { ctx } = await import('./samples/smallest.ts')
  const call = (ms: number) =>
    ctx.tools.execute({ callId: 'call-1' as never, name: 'sleep', arguments: { ms }, signal: new AbortController().signal })
  expect(await call(1)).toEqual(text('slept well'))
  const late = await call(60_000)
  expect(late).toEqual(timedOut(100))
  expect(readme).toContain('Error: tool call timed out after 100ms')
})

describe('the compositions of the README', () => {
  let host: Host

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    host = await Host.start()
  })
  afterEach(() => {
    assertNoTimer()
    vi.useRealTimers()
  })

  it('retry outside: each attempt has a deadline of its own, also the second and the third', async () => {
    await deadlinePerAttempt(host.ctx)
    const slow = new Hanging()
    host.tool('slow', 50, slow.body)
    const call = host.call('slow')
    for (const attempt of [1, 2, 3]) {
      const signal = await slow.started(attempt)
      vi.advanceTimersByTime(49)
      expect(signal.aborted).toBe(false)
      vi.advanceTimersByTime(1)
      expect(signal.aborted).toBe(true)
    }
    expect(await call).toEqual(timedOut(50))
    expect(slow.signals).toHaveLength(3)
  })

  it('retry outside: an attempt within its budget counts, whatever the first one came to', async () => {
    await deadlinePerAttempt(host.ctx)
    const slow = new Hanging()
    host.tool('slow', 50, (exec) => (slow.signals.length === 0 ? slow.body(exec) : 'second time lucky'))
    const call = host.call('slow')
    await slow.started()
    vi.advanceTimersByTime(50)
    expect(await call).toEqual(text('second time lucky'))
  })

  it('retry outside: a user who cancels gets no further attempt', async () => {
    await deadlinePerAttempt(host.ctx)
    const user = new AbortController()
    const slow = new Hanging()
    host.tool('slow', 50, slow.body)
    const call = host.call('slow', { signal: user.signal })
    await slow.started()
    user.abort(new Error('the user left'))
    expect(await call).toMatchObject({ isError: true, error: { message: 'the user left' } })
    expect(slow.signals).toHaveLength(1)
  })

  it('retry inside: one deadline covers all attempts', async () => {
    await deadlineForAll(host.ctx)
    const slow = new Hanging()
    let attempts = 0
    host.tool('slow', 50, (exec) => {
      if (++attempts === 3) return slow.body(exec)
      vi.advanceTimersByTime(20)
      throw new Error('try again')
    })
    const call = host.call('slow')
    const signal = await slow.started()
    vi.advanceTimersByTime(9)
    expect(signal.aborted).toBe(false)
    vi.advanceTimersByTime(1)
    expect(await call).toEqual(timedOut(50))
  })

  it('retry inside: a deadline that ends is not retried', async () => {
    await deadlineForAll(host.ctx)
    const slow = new Hanging()
    host.tool('slow', 50, slow.body)
    const call = host.call('slow')
    await slow.started()
    vi.advanceTimersByTime(50)
    expect(await call).toEqual(timedOut(50))
    expect(slow.signals).toHaveLength(1)
  })

  it.each([
    ['outside: they note what the model is told', measureResults, ['OK', 'TOOL_TIMEOUT']],
    ['inside: they note what the body came to', measureBodies, ['OK', 'OK']],
  ])('metrics %s', async (_title, compose, expected) => {
    const outcomes: string[] = []
    await compose(host.ctx, outcomes)
    const slow = new Hanging(() => 'late')
    host.tool('quick', 50, () => 'done')
    host.tool('slow', 50, slow.body)
    await host.call('quick')
    const call = host.call('slow')
    await slow.started()
    vi.advanceTimersByTime(50)
    expect(await call).toEqual(timedOut(50))
    expect(outcomes).toEqual(expected)
  })
})
