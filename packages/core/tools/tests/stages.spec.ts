import { getEventListeners } from 'node:events'
import type { Context } from '@deepseek-ai/cordis'
import { describe, expect, it } from 'vitest'
import { bogus, codeOf, type CallOptions, Host, said, traceStages } from './support.ts'

const broken = (): never => {
  throw new Error('broken')
}
const rejecting = (): Promise<never> => Promise.reject(new Error('broken'))

interface Fault {
  /** Puts the fault in place; registered before the trace, so that the faulty listener is the outer one. */
  readonly arrange?: (ctx: Context, host: Host) => void
  readonly options?: CallOptions
  readonly trace: readonly string[]
  readonly text: string
  readonly code?: string | undefined
}

const all = ['pre', 'execute', 'body', 'post', 'result']

const faults: Record<string, Fault> = {
  nowhere: { trace: all, text: 'done', code: 'success' },

  'pre-execute, synchronously': {
    arrange: (ctx) => ctx.on('tools/pre-execute', broken),
    trace: ['post', 'result'],
    text: 'Error: broken',
  },
  'pre-execute, asynchronously': {
    arrange: (ctx) => ctx.on('tools/pre-execute', rejecting),
    trace: ['post', 'result'],
    text: 'Error: broken',
  },
  'pre-execute, after next()': {
    arrange: (ctx) => ctx.on('tools/pre-execute', async (_exec, next) => (await next(), broken())),
    trace: ['pre', 'post', 'result'],
    text: 'Error: broken',
  },
  'pre-execute, with no decision': {
    arrange: (ctx) => ctx.on('tools/pre-execute', async (_exec, next) => bogus(void (await next()))),
    trace: ['pre', 'post', 'result'],
    text: 'Error: tools/pre-execute: a listener of plugin "root" returned undefined, not a decision (did it forget `return next()`?)',
    code: 'DENIED',
  },
  'a veto of pre-execute through internal/dispatch': {
    arrange: (ctx) => ctx.on('internal/dispatch', (_mode, name) => (name === 'tools/pre-execute' ? broken() : undefined)),
    trace: ['post', 'result'],
    text: 'Error: broken',
  },
  approval: {
    arrange(ctx) {
      ctx.provide('approval', { request: rejecting })
      ctx.on('tools/pre-execute', async () => ({ kind: 'ask' }))
    },
    options: { agent: bogus({ id: 'a' }) },
    trace: ['post', 'result'],
    text: 'Error: approval of tool "echo" failed: broken',
    code: 'DENIED',
  },
  'a guard': {
    arrange: ({ tools }) => void tools.guard(broken),
    trace: ['pre', 'post', 'result'],
    text: 'Error: a guard of plugin "root" failed: broken',
    code: 'DENIED',
  },
  'a guard that answers later': {
    arrange: ({ tools }) => void tools.guard(bogus(rejecting)),
    trace: ['pre', 'post', 'result'],
    text: 'Error: a guard of plugin "root" returned a promise, not a reason or undefined',
    code: 'DENIED',
  },

  'the arguments': {
    options: { arguments: { n: NaN } },
    trace: ['post', 'result'],
    text: 'Error: invalid arguments: arguments.n is NaN: a number must be finite',
    code: 'INVALID_ARGS',
  },
  'the name': {
    options: { name: 'ehco' },
    trace: ['pre', 'execute', 'post', 'result'],
    text: 'Error: unknown tool "ehco"',
    code: 'UNKNOWN_TOOL',
  },

  'a wrapper, synchronously before next()': {
    arrange: (ctx) => ctx.on('tools/execute', broken),
    trace: ['pre', 'post', 'result'],
    text: 'Error: broken',
  },
  'a wrapper, asynchronously before next()': {
    arrange: (ctx) => ctx.on('tools/execute', rejecting),
    trace: ['pre', 'post', 'result'],
    text: 'Error: broken',
  },
  'a wrapper, after next()': {
    arrange: (ctx) => ctx.on('tools/execute', async (_exec, next) => (await next(), broken())),
    trace: all,
    text: 'Error: broken',
  },
  'a wrapper, with no result': {
    arrange: (ctx) => ctx.on('tools/execute', async (_exec, next) => bogus(void (await next()))),
    trace: all,
    text: 'Error: tools/execute: a listener of plugin "root" returned undefined, not a result (did it forget `return next()`?)',
    code: 'BAD_ANSWER',
  },
  'a veto of execute through internal/dispatch': {
    arrange: (ctx) => ctx.on('internal/dispatch', (_mode, name) => (name === 'tools/execute' ? broken() : undefined)),
    trace: ['pre', 'post', 'result'],
    text: 'Error: broken',
  },

  'the body, synchronously': {
    arrange: (_ctx, host) => (host.body = broken),
    trace: ['pre', 'execute', 'post', 'result'],
    text: 'Error: broken',
  },
  'the body, asynchronously': {
    arrange: (_ctx, host) => (host.body = rejecting),
    trace: ['pre', 'execute', 'post', 'result'],
    text: 'Error: broken',
  },
  'the output': {
    arrange: (_ctx, host) => (host.body = () => bogus(null)),
    trace: ['pre', 'execute', 'post', 'result'],
    text: 'Error: tool "echo" returned invalid output: null, not text or an array of content blocks',
    code: 'INVALID_TOOL_OUTPUT',
  },

  'post-execute, synchronously': {
    arrange: (ctx) => ctx.on('tools/post-execute', broken),
    trace: ['pre', 'execute', 'body', 'result'],
    text: 'Error: broken',
  },
  'post-execute, asynchronously': {
    arrange: (ctx) => ctx.on('tools/post-execute', rejecting),
    trace: ['pre', 'execute', 'body', 'result'],
    text: 'Error: broken',
  },
  'post-execute, after next()': {
    arrange: (ctx) => ctx.on('tools/post-execute', async (_exec, _result, next) => (await next(), broken())),
    trace: all,
    text: 'Error: broken',
  },
  'post-execute, with no decision': {
    arrange: (ctx) => ctx.on('tools/post-execute', async (_exec, _result, next) => bogus(void (await next()))),
    trace: all,
    text: 'Error: tools/post-execute: a listener of plugin "root" returned undefined, not a decision (did it forget `return next()`?)',
    code: 'BAD_ANSWER',
  },
  'a veto of post-execute through internal/dispatch': {
    arrange: (ctx) => ctx.on('internal/dispatch', (_mode, name) => (name === 'tools/post-execute' ? broken() : undefined)),
    trace: ['pre', 'execute', 'body', 'result'],
    text: 'Error: broken',
  },

  'an observer of the result, synchronously': {
    arrange: (ctx) => ctx.on('tools/result', broken),
    trace: all,
    text: 'done',
    code: 'success',
  },
  'an observer of the result, asynchronously': {
    arrange: (ctx) => ctx.on('tools/result', bogus(rejecting)),
    trace: all,
    text: 'done',
    code: 'success',
  },
  'a veto of the result through internal/dispatch': {
    arrange: (ctx) => ctx.on('internal/dispatch', (_mode, name) => (name === 'tools/result' ? broken() : undefined)),
    trace: ['pre', 'execute', 'body', 'post'],
    text: 'done',
    code: 'success',
  },
}

describe.each(Object.entries(faults))('a fault in %s', (_name, { arrange, options = {}, trace, text, code }) => {
  it('ends the call where it should, with the result it should, and leaves nothing behind', async () => {
    const host = await Host.start()
    arrange?.(host.ctx, host)
    const { body } = host
    const stages = traceStages(host.ctx)
    host.body = (args, exec) => {
      const output = body(args, exec)
      if (output === 'done') stages.push('body')
      return output
    }
    const caller = new AbortController()
    const result = await host.call({ signal: caller.signal, ...options })
    expect({ stages, text: said(result), code: codeOf(result) }).toEqual({ stages: trace, text, code })
    expect(getEventListeners(caller.signal, 'abort')).toEqual([])
  })

  it('comes out the same when the call is prepared, dispatched and finished apart', async () => {
    const host = await Host.start()
    arrange?.(host.ctx, host)
    const call = await host.tools.prepare(host.input(options))
    await call.dispatch()
    const result = await call.finish()
    expect({ text: said(result), code: codeOf(result) }).toEqual({ text, code })
  })

  it('is the fault of one call: the next one, without it, succeeds', async () => {
    const host = await Host.start()
    const fiber = host.ctx.plugin({
      name: 'faulty',
      inject: ['tools'],
      apply: (ctx: Context) => arrange?.(ctx, host),
    })
    await fiber
    await host.call(options)
    await fiber.dispose()
    host.body = () => 'done'
    expect(said(await host.call())).toBe('done')
  })
})

it('a caller that has aborted already passes no stage but the result', async () => {
  const host = await Host.start()
  const stages = traceStages(host.ctx)
  expect(codeOf(await host.call({ signal: AbortSignal.abort(), arguments: undefined }))).toBe('ABORTED_BEFORE_DISPATCH')
  expect(stages).toEqual(['result'])
})

it('internal/dispatch fires for each stage, in order, with the execution first, also when nobody listens', async () => {
  const host = await Host.start()
  const seen: unknown[] = []
  host.ctx.on('internal/dispatch', (mode, name, args) => void seen.push([mode, name, args.length, (args as [{ name: string }])[0].name]))
  await host.call()
  expect(seen).toEqual([
    ['waterfall', 'tools/pre-execute', 1, 'echo'],
    ['waterfall', 'tools/execute', 1, 'echo'],
    ['waterfall', 'tools/post-execute', 2, 'echo'],
    ['emit', 'tools/result', 2, 'echo'],
  ])
})

it('what an observer of internal/dispatch does to the arguments reaches no listener', async () => {
  const host = await Host.start()
  host.ctx.on('internal/dispatch', (_mode, _name, args) => void args.fill({ name: 'other' }))
  const names: string[] = []
  host.ctx.on('tools/execute', (exec, next) => (names.push(exec.name), next()))
  host.ctx.on('tools/post-execute', (exec, _result, next) => (names.push(exec.name), next()))
  expect(said(await host.call())).toBe('done')
  expect(names).toEqual(['echo', 'echo'])
})
