import type { Context } from '@deepseek-ai/cordis'
import { CallId } from '@loopguard/llm'
import { type InvariantWatch, gate, mountInvariants } from '@loopguard/testkit'
import type { ToolExecution, ToolExecutionResult } from '@loopguard/tools'
import { describe, expect, it } from 'vitest'
import { bogus, codeOf, failed, Host, said } from './support.ts'

interface Watched {
  readonly host: Host
  readonly ctx: Context
  readonly watch: InvariantWatch
}

async function watched(host?: Host): Promise<Watched> {
  const on = host ?? (await Host.start(undefined, { invariants: false }))
  return { host: on, ctx: on.ctx, watch: await mountInvariants(on.ctx, { package_allowlist: ['^@loopguard/tools$'] }) }
}

const done: ToolExecutionResult = { isError: false, content: [{ type: 'text', text: 'done' }] }

/** An execution that did not come from the pipeline. */
function forged(given: Partial<ToolExecution> = {}): ToolExecution {
  const callId = CallId('forged')
  const { signal } = new AbortController()
  return { callId, name: 'echo', arguments: {}, agent: undefined, parent: undefined, token: Symbol('forged'), signal, ...given }
}

const run = (ctx: Context, exec: ToolExecution): Promise<ToolExecutionResult> =>
  ctx.waterfall('tools/execute', exec, () => Promise.resolve(done))

describe('the stages of a call come in their order, and each once', () => {
  it('trips when a plugin runs a call that was never judged', async () => {
    const { ctx, watch } = await watched()
    expect(() => run(ctx, forged())).toThrow('call "forged" of tool "echo": stage execute came after start')
    watch.assertBroken('@loopguard/tools', /stage execute came after start$/)
  })

  it('trips when a call is judged a second time', async () => {
    const { host, ctx, watch } = await watched()
    ctx.on('tools/execute', async (exec, next) => {
      await ctx.waterfall('tools/pre-execute', exec, () => Promise.resolve({ kind: 'allow' }))
      return next()
    })
    expect(failed(await host.call()).error.info?.code).toBe('INVARIANT')
    watch.assertBroken('@loopguard/tools', /call "call-1" of tool "echo": stage pre-execute came after execute$/)
  })

  it('trips when a wrapper puts a call through the execute stage again', async () => {
    const { host, ctx, watch } = await watched()
    ctx.on('tools/execute', (exec, next) => ctx.waterfall('tools/execute', exec, next))
    expect(said(await host.call())).toMatch(/^Error: invariant violated by "@loopguard\/tools"/)
    watch.assertBroken('@loopguard/tools', /stage execute came after execute$/)
  })

  it('trips when a call that has its result is run once more', async () => {
    const { host, ctx, watch } = await watched()
    let kept: ToolExecution | undefined
    ctx.on('tools/result', (exec) => void (kept = exec))
    await host.call()
    expect(() => run(ctx, kept as ToolExecution)).toThrow('stage execute came after result')
    watch.assertBroken('@loopguard/tools', /stage execute came after result$/)
  })

  it('trips when the result of a call comes a second time, and whoever listens hears it all the same', async () => {
    const { host, ctx, watch } = await watched()
    const heard: string[] = []
    ctx.on('tools/result', (exec, result) => void (heard.push(exec.callId) === 1 && ctx.emit('tools/result', exec, result)))
    expect(codeOf(await host.call())).toBe('success')
    expect(heard).toEqual(['call-1', 'call-1'])
    watch.assertBroken('@loopguard/tools', /stage result came after result$/)
  })

  it('trips when a call is reviewed a second time', async () => {
    const { host, ctx, watch } = await watched()
    host.body = () => {
      throw new Error('broken')
    }
    ctx.on('tools/post-execute', (exec, result, next) => ctx.waterfall('tools/post-execute', exec, result, next))
    expect(failed(await host.call()).error.info?.code).toBe('INVARIANT')
    watch.assertBroken('@loopguard/tools', /stage post-execute came after post-execute$/)
  })

  it('trips when a failure is shown twice', async () => {
    const { host, ctx, watch } = await watched()
    let shown = 0
    ctx.on('tools/result', (exec, result) => void (++shown === 1 && ctx.emit('tools/result', exec, result)))
    host.body = () => {
      throw new Error('broken')
    }
    expect(failed(await host.call()).error.message).toBe('broken')
    watch.assertBroken('@loopguard/tools', /stage result came after result$/)
  })

  it('trips when a result is shown before it was reviewed', async () => {
    const { host, ctx, watch } = await watched()
    ctx.on('tools/execute', async (exec, next) => {
      const result = await next()
      ctx.emit('tools/result', exec, result)
      return result
    })
    // It is reported; what fails is the review that comes too late.
    expect(failed(await host.call()).error.info?.code).toBe('INVARIANT')
    watch.assertBroken('@loopguard/tools', /stage result came after execute$/)
  })
})

describe('the identity of a call stays', () => {
  it.each<[string, (exec: ToolExecution) => Partial<ToolExecution>]>([
    ['name', () => ({ name: 'other' })],
    ['arguments', () => ({ arguments: {} })],
    ['callId', () => ({ callId: CallId('other') })],
    ['agent', (exec) => ({ agent: bogus({ id: exec.callId }) })],
    ['parent', (exec) => ({ parent: exec.token })],
  ])('its %s is a part of it', async (_part, other) => {
    const { host, ctx, watch } = await watched()
    ctx.on('tools/pre-execute', async (exec, next) => {
      const decision = await next()
      expect(() => run(ctx, forged({ ...exec, signal: exec.signal, ...other(exec) }))).toThrow('its identity changed before stage execute')
      return decision
    })
    await host.call()
    watch.assertBroken('@loopguard/tools', /its identity changed before stage execute$/)
  })

  it('trips when a plugin runs another tool in the name of a call that was judged', async () => {
    const { host, ctx, watch } = await watched()
    ctx.on('tools/pre-execute', async (exec, next) => {
      const decision = await next()
      await Promise.resolve()
        .then(() => run(ctx, forged({ ...exec, signal: exec.signal, name: 'other' })))
        .catch(() => {})
      return decision
    })
    expect(codeOf(await host.call())).toBe('INVARIANT')
    watch.assertBroken('@loopguard/tools', /call "call-1" of tool "other": its identity changed before stage execute$/)
  })
})

describe('each result is deep-frozen', () => {
  it('trips when a plugin shows a result that can still be changed', async () => {
    const { ctx, watch } = await watched()
    const heard: unknown[] = []
    ctx.on('tools/result', (_exec, result) => void heard.push(result))
    const result = Object.freeze({ isError: false, content: Object.freeze([{ type: 'text', text: 'soft' } as const]) } as const)
    ctx.emit('tools/result', forged(), result)
    expect(heard).toEqual([result])
    watch.assertBroken('@loopguard/tools', /its result is not deep-frozen$/)
  })

  it('however many blocks it has, and if it holds itself', async () => {
    const { ctx, watch } = await watched()
    const block = Object.freeze({ type: 'text' as const, text: 'x' })
    ctx.emit(
      'tools/result',
      forged(),
      Object.freeze({ isError: false, content: Object.freeze(Array.from({ length: 300_000 }, () => block)) }),
    )
    const own: Record<string, unknown> = { isError: false, content: Object.freeze([]) }
    own['own'] = own
    ctx.emit('tools/result', forged(), bogus(Object.freeze(own)))
    expect(watch.violations).toEqual([])
  })
})

describe('the companion is silent about', () => {
  it('every kind of outcome, calls in calls, and attempts', async () => {
    const { host, ctx, watch } = await watched()
    ctx.on('tools/execute', async (_exec, next) => {
      await next()
      return next()
    })
    ctx.on('tools/pre-execute', async (exec, next) => {
      await next()
      return exec.name === 'denied' ? { kind: 'deny', reason: 'no' } : next()
    })
    ctx.on('tools/post-execute', async (_exec, _result, next) => {
      await next()
      return next()
    })
    host.tool({ name: 'denied' })
    host.tool({ name: 'picky', parameters: { type: 'object', required: ['a'] } })
    host.tool({
      name: 'throws',
      execute: () => {
        throw new Error('no luck')
      },
    })
    host.tool({ name: 'outer', execute: async (_args, exec) => said(await host.call({ parent: exec.token, signal: exec.signal })) })
    const calls = [
      host.call(),
      host.call({ name: 'denied' }),
      host.call({ name: 'nobody' }),
      host.call({ name: 'picky' }),
      host.call({ name: 'throws' }),
      host.call({ name: 'outer' }),
      host.call({ arguments: 1n }),
      host.call({ signal: AbortSignal.abort() }),
    ]
    expect((await Promise.all(calls)).map(codeOf)).toEqual([
      'success',
      'DENIED',
      'UNKNOWN_TOOL',
      'INVALID_ARGS',
      undefined,
      'success',
      'INVALID_ARGS',
      'ABORTED_BEFORE_DISPATCH',
    ])
    watch.assertNone()
  })

  it.each(['tools/pre-execute', 'tools/execute', 'tools/post-execute'] as const)(
    'a call of which somebody refuses %s before the companion hears of it',
    async (refused) => {
      const { host, ctx, watch } = await watched()
      const refuse = (_mode: unknown, event: string): void => {
        if (event === refused) throw new Error('not now')
      }
      ctx.on('internal/dispatch', refuse, { prepend: true })
      expect(failed(await host.call()).error.message).toContain('not now')
      watch.assertNone()
    },
  )

  it('a call that is prepared and never dispatched', async () => {
    const { host, watch } = await watched()
    const prepared = await host.tools.prepare(host.input())
    expect(codeOf(await prepared.finish())).toBe('ABORTED_BEFORE_DISPATCH')
    watch.assertNone()
  })

  it.each(['tools/pre-execute', 'tools/execute', 'tools/post-execute'] as const)(
    'a call that was in %s when it was loaded, or loaded again',
    async (event) => {
      const host = await Host.start(undefined, { invariants: false })
      const [reached, more] = [gate(), gate()]
      host.ctx.on(event as 'tools/result', async (...args: unknown[]) => {
        reached.open()
        await more.opened
        return (args.at(-1) as () => Promise<void>)()
      })
      const calling = host.call()
      await reached.opened
      const { ctx, watch } = await watched(host)
      const fiber = ctx.invariants.registrations().find(({ packageName }) => packageName === '@loopguard/tools')?.fiber
      await fiber?.restart()
      more.open()
      expect(codeOf(await calling)).toBe('success')
      watch.assertNone()
      // From then on it judges that call as any other.
      let kept: ToolExecution | undefined
      ctx.on('tools/result', (exec) => void (kept = exec))
      await host.call()
      expect(() => run(ctx, kept as ToolExecution)).toThrow('stage execute came after result')
    },
  )

  it('events of these names with something else in them', async () => {
    const { ctx, watch } = await watched()
    ctx.emit('tools/result', bogus(undefined), done)
    ctx.emit('tools/result', bogus({ callId: 'x' }), done)
    expect(watch.violations).toEqual([])
  })

  it('what it sees once it is unloaded', async () => {
    const { ctx, watch } = await watched()
    await ctx.invariants
      .registrations()
      .find(({ packageName }) => packageName === '@loopguard/tools')
      ?.fiber?.dispose()
    await expect(run(ctx, forged())).resolves.toBe(done)
    watch.assertNone()
  })
})

it('the calls that run are known to whoever asks', async () => {
  const { host } = await watched()
  const [reached, more] = [gate(), gate()]
  host.body = async () => {
    reached.open()
    await more.opened
    return 'done'
  }
  const prepared = await host.tools.prepare(host.input())
  const calling = host.call()
  await reached.opened
  expect(host.tools.running().map(({ callId }) => callId)).toEqual(['call-1', 'call-2'])
  more.open()
  await calling
  await prepared.finish()
  expect(host.tools.running()).toEqual([])
})
