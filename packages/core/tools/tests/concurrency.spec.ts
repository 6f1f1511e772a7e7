import { gate } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'
import { bogus, codeOf, Host, said, traceStages } from './support.ts'

describe('executionMode', () => {
  it('is exclusive for a tool that says nothing, and for one that is not there', async () => {
    const host = await Host.start()
    expect(host.tools.executionMode({ name: 'echo', arguments: {} })).toEqual({ kind: 'exclusive' })
    expect(host.tools.executionMode({ name: 'ehco', arguments: {} })).toEqual({ kind: 'exclusive' })
  })

  it.each<[string, () => unknown, string]>([
    ['true', () => true, 'parallel'],
    ['false', () => false, 'exclusive'],
    ['1', () => 1, 'exclusive'],
    ['"true"', () => 'true', 'exclusive'],
    ['a promise of true', () => Promise.resolve(true), 'exclusive'],
    ['a promise that rejects', () => Promise.reject(new Error('no')), 'exclusive'],
    ['nothing', () => undefined, 'exclusive'],
    [
      'nothing, but throws',
      () => {
        throw new Error('no')
      },
      'exclusive',
    ],
  ])('of a tool that answers %s', async (_name, isConcurrencySafe, kind) => {
    const host = await Host.start(undefined, { isConcurrencySafe: bogus(isConcurrencySafe) })
    expect(host.tools.executionMode({ name: 'echo', arguments: {} })).toEqual({ kind })
  })

  it('asks with a frozen copy of the arguments, and not about what is no JSON', async () => {
    const asked: unknown[] = []
    const host = await Host.start(undefined, { isConcurrencySafe: (args) => (asked.push(args), true) })
    const args = { path: 'a' }
    expect(host.tools.executionMode({ name: 'echo', arguments: args })).toEqual({ kind: 'parallel' })
    expect(asked).toEqual([args])
    expect(asked[0]).not.toBe(args)
    expect(asked[0]).toSatisfy(Object.isFrozen)
    expect(host.tools.executionMode({ name: 'echo', arguments: undefined })).toEqual({ kind: 'exclusive' })
    expect(asked).toHaveLength(1)
  })

  it('is that of the tool which the agent sees', async () => {
    const host = await Host.start()
    const agent = await host.agent('a')
    host.tool({ isConcurrencySafe: () => true }, agent.ctx)
    expect(host.tools.executionMode({ name: 'echo', arguments: {}, agent })).toEqual({ kind: 'parallel' })
    expect(host.tools.executionMode({ name: 'echo', arguments: {} })).toEqual({ kind: 'exclusive' })
  })

  it('never throws, whatever it is asked', async () => {
    const host = await Host.start()
    expect(host.tools.executionMode(bogus(undefined))).toEqual({ kind: 'exclusive' })
  })
})

describe('a call that is prepared, dispatched and finished apart', () => {
  it('passes the stages where it is told to', async () => {
    const host = await Host.start()
    const stages = traceStages(host.ctx)
    const call = await host.tools.prepare(host.input())
    expect(stages).toEqual(['pre'])
    await call.dispatch()
    expect(stages).toEqual(['pre', 'execute'])
    expect(said(await call.finish())).toBe('done')
    expect(stages).toEqual(['pre', 'execute', 'post', 'result'])
  })

  it('can overlap with others in the body alone: policy and results keep their order', async () => {
    const gates = [gate(), gate()]
    const order: string[] = []
    const host = await Host.start(async (args) => (await gates[args as number]?.opened, order.push(`body ${String(args)}`), 'done'))
    host.ctx.on('tools/pre-execute', (exec, next) => (order.push(`pre ${String(exec.arguments)}`), next()))
    host.ctx.on('tools/post-execute', (exec, _result, next) => (order.push(`post ${String(exec.arguments)}`), next()))
    const calls = [await host.tools.prepare(host.input({ arguments: 0 })), await host.tools.prepare(host.input({ arguments: 1 }))]
    const dispatches = calls.map((call) => call.dispatch())
    gates[1]?.open()
    await dispatches[1]
    gates[0]?.open()
    await dispatches[0]
    for (const call of calls) await call.finish()
    expect(order).toEqual(['pre 0', 'pre 1', 'body 1', 'body 0', 'post 0', 'post 1'])
  })

  it('runs each part once, however often it is asked for', async () => {
    let ran = 0
    const host = await Host.start(() => `ran ${++ran}`)
    const stages = traceStages(host.ctx)
    const call = await host.tools.prepare(host.input())
    await Promise.all([call.dispatch(), call.dispatch()])
    await call.dispatch()
    const [first, second] = await Promise.all([call.finish(), call.finish()])
    expect(first).toBe(second)
    expect(await call.finish()).toBe(first)
    expect(said(first)).toBe('ran 1')
    expect(stages).toEqual(['pre', 'execute', 'post', 'result'])
  })

  it('finished while its body runs, waits for it', async () => {
    const release = gate()
    const host = await Host.start(async () => (await release.opened, 'done'))
    const call = await host.tools.prepare(host.input())
    void call.dispatch()
    const finishing = call.finish()
    release.open()
    expect(said(await finishing)).toBe('done')
  })

  it('finished without a dispatch was aborted before it, and is not dispatched any more', async () => {
    let ran = false
    const host = await Host.start(() => ((ran = true), 'done'))
    const stages = traceStages(host.ctx)
    const call = await host.tools.prepare(host.input())
    expect(codeOf(await call.finish())).toBe('ABORTED_BEFORE_DISPATCH')
    await call.dispatch()
    expect(ran).toBe(false)
    expect(stages).toEqual(['pre', 'post', 'result'])
  })

  it('that was denied, malformed or aborted has nothing to dispatch', async () => {
    let ran = false
    const host = await Host.start(() => ((ran = true), 'done'))
    const stages = traceStages(host.ctx)
    host.tools.guard(() => 'no')
    for (const options of [{}, { arguments: undefined }, { signal: AbortSignal.abort() }]) {
      const call = await host.tools.prepare(host.input(options))
      await call.dispatch()
      await call.finish()
    }
    expect(ran).toBe(false)
    expect(stages).toEqual(['pre', 'post', 'result', 'post', 'result', 'result'])
  })

  it('can have its parts taken off it, and shows nothing of what is behind them', async () => {
    const host = await Host.start()
    const call = await host.tools.prepare(host.input())
    expect(Object.keys(call)).toEqual(['exec', 'dispatch', 'finish', 'abandon', 'bodyMs'])
    expect(call).toSatisfy(Object.isFrozen)
    const { dispatch, finish } = { dispatch: () => call.dispatch(), finish: () => call.finish() }
    await dispatch()
    expect(said(await finish())).toBe('done')
  })
})

it('a thousand calls at once keep apart', async () => {
  const host = await Host.start(async (args, exec) => {
    await Promise.resolve()
    return `${String(args)} ${exec.callId}`
  })
  host.ctx.on('tools/execute', async (exec, next) => {
    exec.signal = new AbortController().signal
    await Promise.resolve()
    return next()
  })
  const results = await Promise.all(Array.from({ length: 1_000 }, (_, index) => host.call({ arguments: index })))
  expect(results.map(said)).toEqual(results.map((_, index) => `${index} call-${index + 1}`))
}, 60_000)
