import { getEventListeners } from 'node:events'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { assertNoTimer, Hanging, Host, text, timedOut } from './host.ts'

let host: Host

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  host = await Host.start()
  await host.ctx.plugin(timeoutPolicy)
})

// Whatever the outcome: the timer is gone.
afterEach(() => {
  assertNoTimer()
  vi.useRealTimers()
})

/** Starts a call of a hanging tool with a budget of 50 ms and lets `meanwhile` happen once the body runs. */
async function hang(hanging: Hanging, meanwhile: (user: AbortController) => unknown) {
  const user = new AbortController()
  host.tool('slow', 50, hanging.body)
  const call = host.call('slow', { signal: user.signal })
  await hanging.started()
  await meanwhile(user)
  const result = await call
  expect(getEventListeners(user.signal, 'abort')).toHaveLength(0)
  return result
}

describe('a call within its budget keeps its outcome', () => {
  it('a value', async () => {
    host.tool('quick', 50, () => 'done')
    expect(await host.call('quick')).toEqual(text('done'))
  })

  it('a value of the last millisecond', async () => {
    const hanging = new Hanging()
    host.tool('slow', 50, async (exec) => {
      void Promise.resolve(hanging.body(exec)).catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, 49))
      return 'just in time'
    })
    const call = host.call('slow')
    await hanging.started()
    vi.advanceTimersByTime(49)
    expect(await call).toEqual(text('just in time'))
  })

  it.each([
    [
      'a synchronous throw',
      () => {
        throw new Error('broken')
      },
    ],
    ['a rejection', () => Promise.reject(new Error('broken'))],
  ])('%s', async (_title, body: () => never | Promise<never>) => {
    host.tool('broken', 50, body)
    expect(await host.call('broken')).toEqual({
      isError: true,
      content: [{ type: 'text', text: 'Error: broken' }],
      error: { message: 'broken' },
    })
  })

  it('an error of its own with the code TOOL_TIMEOUT', async () => {
    host.tool('own', 50, () => {
      throw Object.assign(new Error('my upstream timed out'), { name: 'UpstreamError', code: 'TOOL_TIMEOUT' })
    })
    expect(await host.call('own')).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'Error: my upstream timed out' }],
      error: { message: 'my upstream timed out', info: { name: 'UpstreamError', code: 'TOOL_TIMEOUT' } },
    })
  })

  it('a conclusion of the turn', async () => {
    host.ctx.tools.register({ name: 'last', description: '', parameters: {}, timeoutMs: 50, concludesTurn: true, execute: () => 'bye' })
    expect(await host.call('last')).toEqual({ ...text('bye'), concludesTurn: true })
  })

  it('a name that no tool has', async () => {
    expect(await host.call('nobody')).toMatchObject({ error: { info: { code: 'UNKNOWN_TOOL' } } })
  })
})

describe('a call that outlives its budget becomes TOOL_TIMEOUT, whatever is inside', () => {
  const expire = () => vi.advanceTimersByTime(50)

  it('a body that rejects with the reason of its signal', async () => {
    expect(await hang(new Hanging(), expire)).toEqual(timedOut(50))
  })

  it('a body that fails in a way of its own', async () => {
    const failing = new Hanging(() => {
      throw Object.assign(new Error('socket closed'), { code: 'ECONNRESET' })
    })
    expect(await hang(failing, expire)).toEqual(timedOut(50))
  })

  it('a body that succeeds late', async () => {
    expect(await hang(new Hanging(() => 'late, but done'), expire)).toEqual(timedOut(50))
  })

  it('a body that needs its time to clean up: the result waits for it', async () => {
    let release = () => {}
    const cleaningUp = new Promise<string>((resolve) => (release = () => resolve('clean')))
    let settled = false
    const result = hang(new Hanging(() => cleaningUp), expire).finally(() => (settled = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect(settled).toBe(false)
    release()
    expect(await result).toEqual(timedOut(50))
  })

  it('a body that deferred contexts and concluded the turn: the contexts stay, the conclusion goes', async () => {
    const context = (id: string) => ({ id, role: 'user', content: [{ type: 'text', text: id }], source: { kind: 'user' } }) as never
    const hanging = new Hanging((exec) => {
      exec.deferContext(context('first'))
      exec.deferContext(context('second'))
      exec.concludeTurn()
      return 'late'
    })
    expect(await hang(hanging, expire)).toEqual({ ...timedOut(50), additionalContexts: [context('first'), context('second')] })
  })

  it.each([
    [
      'throws at once',
      () => {
        throw new Error('the wrapper gave up')
      },
    ],
    ['rejects', () => Promise.reject(new Error('the wrapper gave up'))],
  ])('an inner wrapper that %s when the signal aborts', async (_title, giveUp: () => Promise<never>) => {
    host.ctx.on('tools/execute', async (_exec, next) => {
      await next()
      return giveUp()
    })
    expect(await hang(new Hanging(), expire)).toEqual(timedOut(50))
  })

  it('an inner wrapper that is slow before it even begins', async () => {
    const waiting = new Hanging(() => 'go on')
    host.ctx.on('tools/execute', async (exec, next) => {
      await waiting.body(exec as never)
      return next()
    })
    const body = vi.fn<() => string>(() => 'ran')
    host.tool('late', 50, body)
    const call = host.call('late')
    await waiting.started()
    vi.advanceTimersByTime(50)
    expect(await call).toEqual(timedOut(50))
    expect(body).not.toHaveBeenCalled()
  })

  it('with contexts of an inner wrapper', async () => {
    const context = { id: 'note', role: 'user', content: [{ type: 'text', text: 'note' }], source: { kind: 'user' } } as never
    host.ctx.on('tools/execute', async (_exec, next) => ({ ...(await next()), additionalContexts: [context] }))
    expect(await hang(new Hanging(), expire)).toEqual({ ...timedOut(50), additionalContexts: [context] })
  })
})

describe('a cancel is a cancel', () => {
  it('before the budget ends, also when the body settles long after it', async () => {
    const hanging = new Hanging(async () => {
      vi.advanceTimersByTime(1_000)
      return 'late'
    })
    const result = await hang(hanging, (user) => user.abort(new Error('the user left')))
    expect(result).toMatchObject({ isError: true, error: { info: { name: 'AbortError', code: 'ABORTED' } } })
  })

  it('before the call: no timer is armed and no body runs', async () => {
    const body = vi.fn<() => string>(() => 'ran')
    host.tool('slow', 50, body)
    const result = await host.call('slow', { signal: AbortSignal.abort('stop') })
    expect(result).toMatchObject({ error: { info: { code: 'ABORTED_BEFORE_DISPATCH' } } })
    expect(body).not.toHaveBeenCalled()
  })

  it.each(['stop', 0, null, { kind: 'user' }])('with the reason %o, which reaches the body', async (reason) => {
    const hanging = new Hanging()
    await hang(hanging, (user) => user.abort(reason))
    expect(hanging.signals[0]?.reason).toBe(reason)
  })

  it('during the clean-up after a timeout it changes nothing: still TOOL_TIMEOUT', async () => {
    const user = new AbortController()
    const hanging = new Hanging(() => {
      user.abort('too late')
      return 'clean'
    })
    host.tool('slow', 50, hanging.body)
    const call = host.call('slow', { signal: user.signal })
    const signal = await hanging.started()
    vi.advanceTimersByTime(50)
    expect(await call).toEqual(timedOut(50))
    expect(signal.reason).toMatchObject({ name: 'TimeoutReason', code: 'TOOL_TIMEOUT', timeoutMs: 50 })
  })
})
