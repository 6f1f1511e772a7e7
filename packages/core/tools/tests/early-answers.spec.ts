import type { ToolExecutionResult } from '@loopguard/tools'
import { describe, expect, it } from 'vitest'
import { bogus, codeOf, context, contextsOf, Host, said } from './support.ts'

describe('a wrapper whose answer comes when the caller has aborted', () => {
  it('without next(): no body ran, and the result says so and keeps what the wrapper adds', async () => {
    const caller = new AbortController()
    let ran = false
    const host = await Host.start(() => ((ran = true), 'done'))
    host.ctx.on('tools/execute', async () => {
      caller.abort()
      return { isError: false, content: [], additionalContexts: [context('from the cache')] }
    })
    const result = await host.call({ signal: caller.signal })
    expect(codeOf(result)).toBe('ABORTED_BEFORE_DISPATCH')
    expect(contextsOf(result)).toEqual(['from the cache'])
    expect(ran).toBe(false)
  })

  it('after a next() that found arguments that do not match: no body ran either', async () => {
    const caller = new AbortController()
    const host = await Host.start(() => 'done', { parameters: { type: 'object', required: ['a'] } })
    host.ctx.on('tools/execute', async (_exec, next) => {
      await next()
      caller.abort()
      return { isError: false, content: [] }
    })
    expect(codeOf(await host.call({ signal: caller.signal }))).toBe('ABORTED_BEFORE_DISPATCH')
  })

  it('after a body that ran: it was aborted, and both contexts are kept', async () => {
    const caller = new AbortController()
    const host = await Host.start((_args, exec) => {
      exec.deferContext(context('from the body'))
      return 'done'
    })
    host.ctx.on('tools/execute', async (_exec, next) => {
      const result = await next()
      caller.abort()
      return { ...result, additionalContexts: [context('from the wrapper')] }
    })
    const result = await host.call({ signal: caller.signal })
    expect(codeOf(result)).toBe('ABORTED')
    expect(contextsOf(result)).toEqual(['from the body', 'from the wrapper'])
  })
})

it('a wrapper that answers nothing while its next() runs has forgotten to return it', async () => {
  const host = await Host.start(() => 'done')
  host.ctx.on('tools/execute', (_exec, next) => bogus(void next()))
  expect(said(await host.call())).toContain('plugin "root" returned undefined, not a result (did it forget `return next()`?)')
})

it('a result that wrappers hand on is the very one of the dispatch', async () => {
  const host = await Host.start(() => 'done')
  const seen: ToolExecutionResult[] = []
  for (let wrapper = 0; wrapper < 2; wrapper++) {
    host.ctx.on('tools/execute', async (_exec, next) => {
      const result = await next()
      seen.push(result)
      return result
    })
  }
  seen.push(await host.call())
  expect(new Set(seen).size).toBe(1)
})
