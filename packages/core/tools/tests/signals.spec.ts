import { getEventListeners } from 'node:events'
import { gate } from '@loopguard/testkit'
import { TimeoutReason } from '@loopguard/timeout'
import { describe, expect, it } from 'vitest'
import { bogus, codeOf, Host, said } from './support.ts'

describe('the signal of the body', () => {
  it("is the caller's very own when no wrapper put another in its place", async () => {
    const caller = new AbortController()
    let seen: AbortSignal | undefined
    const host = await Host.start((_args, exec) => ((seen = exec.signal), 'done'))
    host.ctx.on('tools/execute', (_exec, next) => next())
    await host.call({ signal: caller.signal })
    expect(seen).toBe(caller.signal)
  })

  it("follows the caller whatever a wrapper did, with the caller's reason", async () => {
    const caller = new AbortController()
    const started = gate()
    let reason: unknown
    const host = await Host.start(async (_args, { signal }) => {
      started.open()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      reason = signal.reason
      return 'stopped'
    })
    host.ctx.on('tools/execute', (exec, next) => {
      exec.signal = new AbortController().signal
      return next()
    })
    const running = host.call({ signal: caller.signal })
    await started.opened
    caller.abort('the user left')
    expect(codeOf(await running)).toBe('ABORTED')
    expect(reason).toBe('the user left')
  })

  it('follows the wrapper, too, and that is no cancel by the caller', async () => {
    const wrapper = new AbortController()
    const host = await Host.start(async (_args, { signal }) => {
      wrapper.abort('enough')
      return `${signal.aborted} ${String(signal.reason)}`
    })
    host.ctx.on('tools/execute', (exec, next) => {
      exec.signal = wrapper.signal
      return next()
    })
    expect(said(await host.call())).toBe('true enough')
  })

  it('keeps its first cause', async () => {
    const [caller, wrapper] = [new AbortController(), new AbortController()]
    const host = await Host.start(async (_args, { signal }) => {
      wrapper.abort('first')
      caller.abort('second')
      throw new Error(String(signal.reason))
    })
    host.ctx.on('tools/execute', (exec, next) => {
      exec.signal = wrapper.signal
      return next()
    })
    expect(said(await host.call({ signal: caller.signal }))).toBe('Error: first')
  })

  it.each([
    ['wrapper', 'caller'],
    ['caller', 'wrapper'],
  ] as const)('that is first read when both have aborted tells the first cause, too: the %s before the %s', async (first, second) => {
    const sources = { caller: new AbortController(), wrapper: new AbortController() }
    const host = await Host.start((_args, exec) => {
      sources[first].abort(first)
      sources[second].abort(second)
      throw new Error(`${exec.signal.aborted} ${String(exec.signal.reason)}`)
    })
    host.ctx.on('tools/execute', (exec, next) => {
      exec.signal = sources.wrapper.signal
      return next()
    })
    expect(said(await host.call({ signal: sources.caller.signal }))).toBe(`Error: true ${first}`)
  })

  it('that is first read when the wrapper has aborted is aborted, too', async () => {
    const wrapper = new AbortController()
    const host = await Host.start((_args, exec) => {
      wrapper.abort('enough')
      return `${exec.signal.aborted} ${String(exec.signal.reason)}`
    })
    host.ctx.on('tools/execute', (exec, next) => {
      exec.signal = wrapper.signal
      return next()
    })
    expect(said(await host.call())).toBe('true enough')
  })

  it('is one and the same at each reading, goes with a copy of the execution, and leaves nothing on those that it followed', async () => {
    const [caller, wrapper] = [new AbortController(), new AbortController()]
    const seen: AbortSignal[] = []
    const following: number[] = []
    let late: (() => AbortSignal) | undefined
    const host = await Host.start((_args, exec) => {
      late = () => exec.signal
      following.push(getEventListeners(wrapper.signal, 'abort').length)
      seen.push({ ...exec }.signal, exec.signal)
      following.push(getEventListeners(wrapper.signal, 'abort').length)
      expect(() => ((exec as { signal: AbortSignal }).signal = caller.signal)).toThrow(TypeError)
      return 'done'
    })
    host.ctx.on('tools/execute', (exec, next) => {
      exec.signal = wrapper.signal
      return next()
    })
    expect(said(await host.call({ signal: caller.signal }))).toBe('done')
    expect(new Set(seen).size).toBe(1)
    expect([caller.signal, wrapper.signal]).not.toContain(seen[0])
    expect(following).toEqual([0, 1])
    expect(late?.()).toBe(seen[0])
    wrapper.abort()
    expect(seen[0]?.aborted).toBe(false)
    expect([caller, wrapper].flatMap(({ signal }) => getEventListeners(signal, 'abort'))).toEqual([])
  })

  it('that is first read after the call follows nothing', async () => {
    const [caller, wrapper] = [new AbortController(), new AbortController()]
    let late: (() => AbortSignal) | undefined
    const host = await Host.start((_args, exec) => ((late = () => exec.signal), 'done'))
    host.ctx.on('tools/execute', (exec, next) => {
      exec.signal = wrapper.signal
      return next()
    })
    await host.call({ signal: caller.signal })
    expect(late?.().aborted).toBe(false)
    wrapper.abort()
    caller.abort()
    expect(late?.().aborted).toBe(false)
    expect([caller, wrapper].flatMap(({ signal }) => getEventListeners(signal, 'abort'))).toEqual([])
  })

  it('cannot be exchanged under the body by what a wrapper does later', async () => {
    const caller = new AbortController()
    const seen: AbortSignal[] = []
    const half = gate()
    const host = await Host.start(async (_args, exec) => {
      seen.push(exec.signal)
      await half.opened
      seen.push(exec.signal)
      return 'done'
    })
    host.ctx.on('tools/execute', async (exec, next) => {
      const running = next()
      exec.signal = new AbortController().signal
      half.open()
      return running
    })
    await host.call({ signal: caller.signal })
    expect(seen).toEqual([caller.signal, caller.signal])
  })

  it('of a wrapper that had aborted before means that the body does not run', async () => {
    let ran = false
    const host = await Host.start(() => ((ran = true), 'done'))
    host.ctx.on('tools/execute', (exec, next) => {
      exec.signal = AbortSignal.abort('over')
      return next()
    })
    expect(codeOf(await host.call())).toBe('ABORTED_BEFORE_DISPATCH')
    expect(ran).toBe(false)
  })
})

it.each(['caller', 'wrapper'] as const)('the signal of the %s may be of another class, as a polyfill has', async (whose) => {
  class ForeignSignal extends EventTarget {
    aborted = false
    reason: unknown
    abort(reason: unknown): void {
      Object.assign(this, { aborted: true, reason })
      this.dispatchEvent(new Event('abort'))
    }
  }
  const foreign = new ForeignSignal()
  const host = await Host.start((_args, exec) => {
    const { signal } = exec
    foreign.abort('enough')
    throw new Error(`${signal.aborted} ${String(signal.reason)}`)
  })
  host.ctx.on('tools/execute', (exec, next) => {
    exec.signal = whose === 'wrapper' ? bogus(foreign) : new AbortController().signal
    return next()
  })
  expect(said(await host.call(whose === 'caller' ? { signal: bogus(foreign) } : {}))).toBe('Error: true enough')
  expect(getEventListeners(foreign, 'abort')).toEqual([])
})

it('a forged abort event on the signal of the caller cancels nothing', async () => {
  const caller = new AbortController()
  const host = await Host.start(async (_args, { signal }) => {
    caller.signal.dispatchEvent(new Event('abort'))
    return String(signal.aborted)
  })
  host.ctx.on('tools/execute', (exec, next) => {
    exec.signal = new AbortController().signal
    return next()
  })
  expect(said(await host.call({ signal: caller.signal }))).toBe('false')
})

describe('exec.signal', () => {
  it("is the caller's in every stage, and again in post-execute when a wrapper has left its own", async () => {
    const caller = new AbortController()
    const host = await Host.start()
    const seen: [string, boolean][] = []
    const note = (stage: string, signal: AbortSignal): void => void seen.push([stage, signal === caller.signal])
    host.ctx.on('tools/pre-execute', (exec, next) => (note('pre', exec.signal), next()))
    host.tools.guard((exec) => bogus(note('guard', exec.signal)))
    host.ctx.on('tools/execute', async (exec, next) => {
      note('outer before', exec.signal)
      const result = await next()
      note('outer after', exec.signal)
      return result
    })
    host.ctx.on('tools/execute', (exec, next) => {
      exec.signal = new AbortController().signal
      return next()
    })
    host.ctx.on('tools/execute', (exec, next) => (note('inner', exec.signal), next()))
    host.ctx.on('tools/post-execute', (exec, _result, next) => (note('post', exec.signal), next()))
    host.ctx.on('tools/result', (exec) => note('result', exec.signal))
    await host.call({ signal: caller.signal })
    expect(seen).toEqual([
      ['pre', true],
      ['guard', true],
      ['outer before', true],
      ['inner', false],
      ['outer after', true],
      ['post', true],
      ['result', true],
    ])
  })

  it("is the caller's in post-execute also when stray code of a wrapper assigns it up to the last moment", async () => {
    const caller = new AbortController()
    const foreign = new AbortController().signal
    const host = await Host.start(undefined, { invariants: false })
    let refused = false
    host.ctx.on('tools/execute', (exec, next) => {
      const stray = async (): Promise<void> => {
        for (let tick = 0; tick < 1_000 && !refused; tick++, await Promise.resolve()) {
          try {
            exec.signal = foreign
          } catch {
            refused = true
          }
        }
      }
      void stray()
      return next()
    })
    let seen: AbortSignal | undefined
    host.ctx.on('tools/post-execute', (exec, _result, next) => ((seen = exec.signal), next()))
    await host.call({ signal: caller.signal })
    expect(refused).toBe(true)
    expect(seen).toBe(caller.signal)
  })

  it('that a wrapper left in place stays until what that wrapper started has settled, then it is the one before', async () => {
    const caller = new AbortController()
    const own = new AbortController().signal
    const released = gate()
    const seen: [string, AbortSignal][] = []
    const host = await Host.start((_args, exec) => (seen.push(['body', exec.signal]), 'done'))
    host.ctx.on('tools/execute', async (exec, next) => {
      const result = await next()
      seen.push(['outside', exec.signal])
      return result
    })
    host.ctx.on('tools/execute', async (exec, next) => {
      exec.signal = own
      void next()
      return { isError: false, content: [] }
    })
    host.ctx.on('tools/execute', async (exec, next) => {
      await released.opened
      seen.push(['inside', exec.signal])
      const result = await next()
      seen.push(['inside', exec.signal])
      return result
    })
    const running = host.call({ signal: caller.signal })
    await new Promise(setImmediate)
    released.open()
    await running
    expect(seen.map(([place, signal]) => [place, signal === own, signal === caller.signal])).toEqual([
      ['inside', true, false],
      ['body', false, false],
      ['inside', true, false],
      ['outside', false, true],
    ])
  })

  it('left in place by a wrapper that failed is not what its next attempt finds', async () => {
    const caller = new AbortController()
    const found: boolean[] = []
    const host = await Host.start()
    host.ctx.on('tools/execute', async (_exec, next) => {
      try {
        return await next()
      } catch {
        return next()
      }
    })
    host.ctx.on('tools/execute', async (exec, next) => {
      found.push(exec.signal === caller.signal)
      exec.signal = AbortSignal.timeout(60_000)
      if (found.length === 1) throw new Error('first')
      return next()
    })
    expect(said(await host.call({ signal: caller.signal }))).toBe('done')
    expect(found).toEqual([true, true])
  })

  const stages: [string, (host: Host, assign: (exec: { signal: AbortSignal }) => void) => void][] = [
    ['tools/pre-execute', ({ ctx }, assign) => ctx.on('tools/pre-execute', (exec, next) => (assign(exec), next()))],
    ['a guard', ({ tools }, assign) => void tools.guard((exec) => bogus(assign(exec)))],
    ['tools/post-execute', ({ ctx }, assign) => ctx.on('tools/post-execute', (exec, _result, next) => (assign(exec), next()))],
  ]
  it.each(stages)('is refused when %s replaces it, and fails the call', async (_name, listen) => {
    const host = await Host.start()
    listen(host, (exec) => (exec.signal = new AbortController().signal))
    expect(said(await host.call())).toContain('exec.signal can be replaced by tools/execute listeners only, while that stage runs')
  })

  it('is refused after the stage, and for what is no signal', async () => {
    const host = await Host.start()
    let kept!: { signal: AbortSignal }
    host.ctx.on('tools/execute', (exec, next) => ((kept = exec), next()))
    await host.call()
    expect(() => (kept.signal = new AbortController().signal)).toThrow(expect.objectContaining({ code: 'SIGNAL_READ_ONLY' }))

    host.ctx.on('tools/execute', (exec, next) => {
      exec.signal = bogus({ aborted: false })
      return next()
    })
    expect(await host.call()).toMatchObject({
      error: { message: 'exec.signal must be an AbortSignal, got an object', info: { code: 'BAD_SIGNAL' } },
    })
  })
})

describe('a cancel', () => {
  it('before the call, while its arguments are no JSON and its tool is unknown, is an abort before dispatch', async () => {
    const host = await Host.start()
    expect(codeOf(await host.call({ name: 'ehco', arguments: undefined, signal: AbortSignal.abort() }))).toBe('ABORTED_BEFORE_DISPATCH')
  })

  it('by a pre-execute listener means that neither guards nor wrappers are asked', async () => {
    const caller = new AbortController()
    const host = await Host.start()
    const asked: string[] = []
    host.ctx.on('tools/pre-execute', (_exec, next) => (caller.abort(), next()))
    host.tools.guard(() => bogus(asked.push('guard')))
    host.ctx.on('tools/execute', (_exec, next) => (asked.push('wrapper'), next()))
    expect(codeOf(await host.call({ signal: caller.signal }))).toBe('ABORTED_BEFORE_DISPATCH')
    expect(asked).toEqual([])
  })

  it('does not turn a denial into an abort', async () => {
    const caller = new AbortController()
    const host = await Host.start()
    host.ctx.on('tools/pre-execute', async () => (caller.abort(), { kind: 'deny', reason: 'no' }))
    expect(codeOf(await host.call({ signal: caller.signal }))).toBe('DENIED')
  })

  it('between prepare and dispatch is an abort before dispatch, and no wrapper runs', async () => {
    const caller = new AbortController()
    const host = await Host.start()
    const call = await host.tools.prepare(host.input({ signal: caller.signal }))
    host.ctx.on('tools/execute', () => Promise.reject(new Error('ran')))
    caller.abort()
    await call.dispatch()
    expect(codeOf(await call.finish())).toBe('ABORTED_BEFORE_DISPATCH')
  })

  it('that a body never looks at waits for the body', async () => {
    const caller = new AbortController()
    const [started, release] = [gate(), gate()]
    const host = await Host.start(async () => (started.open(), await release.opened, 'done'))
    let settled = false
    const running = host.call({ signal: caller.signal }).finally(() => (settled = true))
    await started.opened
    caller.abort()
    for (let ticks = 0; ticks < 50; ticks++) await Promise.resolve()
    expect(settled).toBe(false)
    release.open()
    expect(codeOf(await running)).toBe('ABORTED')
  })

  it('while a wrapper still works on a success makes the call aborted', async () => {
    const caller = new AbortController()
    const host = await Host.start()
    host.ctx.on('tools/execute', async (_exec, next) => (await next(), caller.abort(), { isError: false, content: [] }))
    expect(codeOf(await host.call({ signal: caller.signal }))).toBe('ABORTED')
  })

  it('during post-execute comes too late to change what happened', async () => {
    const caller = new AbortController()
    const host = await Host.start()
    host.ctx.on('tools/post-execute', (_exec, _result, next) => (caller.abort(), next()))
    expect(codeOf(await host.call({ signal: caller.signal }))).toBe('success')
  })

  it('leaves the failure of a body its own', async () => {
    const caller = new AbortController()
    const host = await Host.start(() => {
      caller.abort()
      throw new Error('halfway')
    })
    expect(said(await host.call({ signal: caller.signal }))).toBe('Error: halfway')
  })

  it.each([
    ['a deadline of its own', new TimeoutReason('OWN', 5), 'OWN after 5ms', { name: 'TimeoutReason', code: 'OWN' }],
    ['a value without a message', 7, '7', undefined],
  ])('leaves a body that throws %s its own failure', async (_title, thrown, message, info) => {
    const caller = new AbortController()
    const host = await Host.start(() => {
      caller.abort({ kind: 'user' })
      throw thrown
    })
    expect(await host.call({ signal: caller.signal })).toMatchObject({ error: { message, ...(info !== undefined && { info }) } })
  })

  it('whose reason is a deadline further out, thrown by the body, is an abort', async () => {
    const caller = new AbortController()
    const host = await Host.start((_args, { signal }) => {
      caller.abort(new TimeoutReason('OUTER', 5))
      throw signal.reason
    })
    expect(codeOf(await host.call({ signal: caller.signal }))).toBe('ABORTED')
  })

  it.each([[{ kind: 'user' }], [0], [null]])('whose reason %j, thrown by the body, has no message to show, is an abort', async (reason) => {
    const caller = new AbortController()
    const host = await Host.start((_args, { signal }) => {
      caller.abort(reason)
      throw signal.reason
    })
    expect(codeOf(await host.call({ signal: caller.signal }))).toBe('ABORTED')
  })
})
