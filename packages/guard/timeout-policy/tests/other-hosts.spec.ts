// A host that has the same event and a `ctx.tools.get(name, scope)`, and nothing else of ours: Cordis' own waterfall, in which all calls of
// `next` share one queue, an execution that anyone may write to, and a registry that accepts any budget.
import { Context, type Exporter, Logger, type Message, Service } from '@deepseek-ai/cordis'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import type { ToolDispatchExecution, ToolExecutionResult } from '@loopguard/tools'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { aborted, assertNoTimer, text, timedOut } from './host.ts'

const MAX_TIMER_DELAY_MS = 2_147_483_647
type Budget = { timeoutMs?: unknown } | undefined

class OtherTools extends Service {
  static budgets: (name: string, scope: unknown) => Budget = () => undefined

  constructor(ctx: Context) {
    super(ctx, 'tools')
  }

  get(name: string, scope?: unknown): Budget {
    return OtherTools.budgets(name, scope)
  }
}

let ctx: Context
let logged: string[]

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  ctx = new Context()
  logged = []
  const exporter: Exporter = {
    colors: false,
    export: (message: Message) => void logged.push(`${message.type} ${message.name}: ${Logger.format(exporter, message)}`),
  }
  ctx.logger.exporter(exporter)
  await ctx.plugin(OtherTools)
})
afterEach(() => {
  assertNoTimer()
  vi.useRealTimers()
})

function call(body: (exec: ToolDispatchExecution) => Promise<ToolExecutionResult>, agent?: unknown, name = 'slow') {
  const exec = { name, agent, signal: new AbortController().signal } as unknown as ToolDispatchExecution
  const caller = exec.signal
  return { exec, caller, result: ctx.waterfall('tools/execute', exec, () => body(exec)) }
}

const budget = (timeoutMs: unknown) => (OtherTools.budgets = () => ({ timeoutMs }))
const done = async () => text('done') as ToolExecutionResult
const hang = async (exec: ToolDispatchExecution) => {
  await aborted(exec.signal)
  return done()
}

describe('in a host that only has the waterfall', () => {
  beforeEach(async () => {
    await ctx.plugin(timeoutPolicy)
  })

  it('bounds a call, and puts the caller’s signal back', async () => {
    budget(50)
    const { exec, caller, result } = call(hang)
    expect(exec.signal).not.toBe(caller)
    vi.advanceTimersByTime(50)
    expect(await result).toEqual(timedOut(50))
    expect(exec.signal).toBe(caller)
  })

  it.each([
    ['a value', done],
    ['a rejection', () => Promise.reject(new Error('broken'))],
    [
      'a synchronous throw',
      () => {
        throw new Error('broken')
      },
    ],
  ])('puts the caller’s signal back after %s, which it hands on', async (_title, body: () => Promise<ToolExecutionResult>) => {
    budget(50)
    const { exec, caller, result } = call(body)
    const outcome = await result.catch((error: Error) => error.message)
    expect(outcome).toEqual(body === done ? text('done') : 'broken')
    expect(exec.signal).toBe(caller)
  })

  it('turns a body that rejects when the signal aborts into TOOL_TIMEOUT', async () => {
    budget(50)
    const { result } = call(async (exec) => {
      await aborted(exec.signal)
      throw exec.signal.reason
    })
    vi.advanceTimersByTime(50)
    expect(await result).toEqual(timedOut(50))
  })

  it('asks for the budget of the tool by name and scope, once per call', async () => {
    const asked: unknown[][] = []
    OtherTools.budgets = (...args) => {
      asked.push(args)
      return { timeoutMs: 50 }
    }
    const scope = { id: 'agent' }
    await call(done, scope).result
    await call(done).result
    expect(asked).toEqual([
      ['slow', scope],
      ['slow', undefined],
    ])
  })

  it.each([MAX_TIMER_DELAY_MS + 1, 1e300, Infinity])('a budget of %s counts as the longest that a timer takes', async (above) => {
    budget(above)
    const { result } = call(hang)
    vi.advanceTimersByTime(MAX_TIMER_DELAY_MS - 1)
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(1)
    expect(await result).toEqual(timedOut(MAX_TIMER_DELAY_MS))
  })

  it.each([[NaN], [0], [-0], [-1], [-Infinity], ['50'], [null], [[50]], [true]])(
    'a budget of %o bounds nothing: the signal stays the caller’s, and an error names the tool, once',
    async (unusable) => {
      const tool = { timeoutMs: unusable }
      OtherTools.budgets = () => tool
      const { exec, caller, result } = call(done)
      expect(exec.signal).toBe(caller)
      expect(vi.getTimerCount()).toBe(0)
      expect(await result).toEqual(text('done'))
      await call(done).result
      expect(logged).toEqual([
        `error timeout-policy: tool "slow": timeoutMs must be a positive number, got ${String(unusable)}; it runs without a deadline`,
      ])
    },
  )

  it('another definition with an unusable budget is reported for itself, also under the same name', async () => {
    OtherTools.budgets = () => ({ timeoutMs: NaN })
    await call(done).result
    await call(done, undefined, '%s\nname').result
    await call(done).result
    expect(logged).toEqual([
      'error timeout-policy: tool "slow": timeoutMs must be a positive number, got NaN; it runs without a deadline',
      'error timeout-policy: tool "%s\\nname": timeoutMs must be a positive number, got NaN; it runs without a deadline',
      'error timeout-policy: tool "slow": timeoutMs must be a positive number, got NaN; it runs without a deadline',
    ])
  })

  it('a tool without a budget, and a name without a tool, are delegated untouched', async () => {
    OtherTools.budgets = () => ({})
    const known = call(done)
    expect(known.exec.signal).toBe(known.caller)
    expect(await known.result).toEqual(text('done'))
    OtherTools.budgets = () => undefined
    const unknown = call(done)
    expect(unknown.exec.signal).toBe(unknown.caller)
    expect(await unknown.result).toEqual(text('done'))
    expect(logged).toEqual([])
  })
})

describe('in a host whose next() is not re-entrant', () => {
  it('a retry around the policy takes its second attempt past it: no deadline, no timeout', async () => {
    budget(50)
    ctx.on('tools/execute', async (_exec, next) => {
      await next()
      return next()
    })
    await ctx.plugin(timeoutPolicy)
    const timers: number[] = []
    const { result } = call(async () => {
      timers.push(vi.getTimerCount())
      return done()
    })
    expect(await result).toEqual(text('done'))
    expect(timers).toEqual([1, 0])
  })

  it('a retry inside the policy works as it does in ours: one deadline for all attempts', async () => {
    budget(50)
    await ctx.plugin(timeoutPolicy)
    ctx.on('tools/execute', async (_exec, next) => {
      await next()
      return next()
    })
    const timers: number[] = []
    const { result } = call(async (exec) => {
      timers.push(vi.getTimerCount())
      return timers.length === 1 ? done() : hang(exec)
    })
    await vi.waitFor(() => expect(timers).toEqual([1, 1]), { interval: 0 })
    vi.advanceTimersByTime(50)
    expect(await result).toEqual(timedOut(50))
  })
})
