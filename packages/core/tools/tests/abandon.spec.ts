import { getEventListeners } from 'node:events'
import { gate } from '@loopguard/testkit'
import type { ToolRunContext } from '@loopguard/tools'
import { describe, expect, it } from 'vitest'
import { codeOf, context, contextsOf, Host, said, traceStages, unfrozen } from './support.ts'

const TEXT =
  'Error: tool call was given up on: the tool did not stop when it was cancelled, and may still be working; whether it took effect is not known'

/** A tool that takes no notice of its signal, and what it does once it is let go. */
async function deaf({ then = () => 'late' }: { then?: (exec: ToolRunContext) => string } = {}) {
  const [started, go] = [gate(), gate()]
  const host = await Host.start(async (_args, exec) => {
    started.open()
    await go.opened
    return then(exec)
  })
  const caller = new AbortController()
  const prepared = await host.tools.prepare(host.input({ signal: caller.signal }))
  return { host, caller, prepared, started, go }
}

describe('a dispatch that is given up on', () => {
  it('settles, and the call ends with an outcome that nobody knows, through every stage once', async () => {
    const { host, caller, prepared, started, go } = await deaf()
    const trace = traceStages(host.ctx)
    const dispatching = prepared.dispatch()
    await started.opened
    caller.abort()
    const late = prepared.abandon()
    await dispatching
    const result = await prepared.finish()
    expect(result).toMatchObject({ isError: true, error: { info: { name: 'ToolInterruptedError', code: 'TOOL_OUTCOME_UNKNOWN' } } })
    expect(said(result)).toBe(TEXT)
    expect(unfrozen(result)).toEqual([])
    expect(host.tools.running()).toEqual([])
    go.open()
    await late
    expect(trace).toEqual(['execute', 'post', 'result'])
  })

  it('hands what the tool answers after all to who gave up, and drops it', async () => {
    const { caller, prepared, started, go } = await deaf()
    void prepared.dispatch()
    await started.opened
    caller.abort()
    const late = prepared.abandon()
    const result = await prepared.finish()
    go.open()
    expect(codeOf((await late) as never)).toBe('ABORTED')
    expect(await prepared.finish()).toBe(result)
    expect(prepared.abandon()).toBeUndefined()
  })

  it('takes no more contexts and no conclusion, and keeps those that came before', async () => {
    let refused: unknown
    const [started, go] = [gate(), gate()]
    const host = await Host.start(async (_args, exec) => {
      exec.deferContext(context('before'))
      started.open()
      await go.opened
      try {
        exec.deferContext(context('after'))
      } catch (error) {
        refused = error
      }
      return 'late'
    })
    const prepared = await host.tools.prepare(host.input())
    void prepared.dispatch()
    await started.opened
    const late = prepared.abandon()
    go.open()
    await late
    expect(refused).toMatchObject({ code: 'CALL_FINISHED' })
    const result = await prepared.finish()
    expect([codeOf(result), ...contextsOf(result)]).toEqual(['TOOL_OUTCOME_UNKNOWN', 'before'])
  })

  it('is not tried again, and its signal is the caller’s, whatever the wrappers inside still do', async () => {
    let bodies = 0
    const [started, go] = [gate(), gate()]
    const host = await Host.start(async () => {
      bodies++
      started.open()
      await go.opened
      throw new Error('late')
    })
    const seen: AbortSignal[] = []
    host.ctx.on('tools/execute', async (exec, next) => {
      exec.signal = new AbortController().signal
      await next()
      const again = await next()
      exec.signal = new AbortController().signal
      seen.push(exec.signal)
      return again
    })
    const caller = new AbortController()
    const prepared = await host.tools.prepare(host.input({ signal: caller.signal }))
    void prepared.dispatch()
    await started.opened
    const late = prepared.abandon()
    expect(prepared.exec.signal).toBe(caller.signal)
    const result = await prepared.finish()
    go.open()
    await late
    expect(bodies).toBe(1)
    expect(seen).toEqual([caller.signal])
    expect(codeOf(result)).toBe('TOOL_OUTCOME_UNKNOWN')
    expect(getEventListeners(caller.signal, 'abort')).toEqual([])
  })

  it('gives up on the calls that it made, and on those of no other', async () => {
    const { host, prepared: other, go } = await deaf()
    const inner = gate()
    const heard: string[] = []
    host.ctx.on('tools/result', (exec, result) => void heard.push(`${exec.name} ${codeOf(result)}`))
    host.tool({ name: 'inner', execute: () => (inner.open(), new Promise<string>(() => {})) })
    host.tool({
      name: 'outer',
      execute: async (_args, { token, signal }) => said(await host.call({ name: 'inner', parent: token, signal })),
    })
    const prepared = await host.tools.prepare(host.input({ name: 'outer' }))
    void other.dispatch()
    void prepared.dispatch()
    await inner.opened
    const late = prepared.abandon()
    await prepared.finish()
    expect(said((await late) as never)).toBe(TEXT)
    expect(heard.toSorted()).toEqual(['inner TOOL_OUTCOME_UNKNOWN', 'outer TOOL_OUTCOME_UNKNOWN'])
    expect(host.tools.running().map(({ name }) => name)).toEqual(['echo'])
    go.open()
    await other.finish()
  })

  it('also when its end is waited for already', async () => {
    const { caller, prepared, started, go } = await deaf()
    void prepared.dispatch()
    const finishing = prepared.finish()
    await started.opened
    caller.abort()
    const late = prepared.abandon()
    expect(codeOf(await finishing)).toBe('TOOL_OUTCOME_UNKNOWN')
    go.open()
    await late
  })
})

describe('there is nothing to give up on', () => {
  it('before the dispatch, after it, and when no body was let run', async () => {
    const host = await Host.start()
    const prepared = await host.tools.prepare(host.input())
    expect(prepared.abandon()).toBeUndefined()
    await prepared.dispatch()
    expect(prepared.abandon()).toBeUndefined()
    expect(said(await prepared.finish())).toBe('done')

    const aborted = await host.tools.prepare(host.input({ signal: AbortSignal.abort() }))
    void aborted.dispatch()
    expect(aborted.abandon()).toBeUndefined()
    expect(codeOf(await aborted.finish())).toBe('ABORTED_BEFORE_DISPATCH')
  })
})
