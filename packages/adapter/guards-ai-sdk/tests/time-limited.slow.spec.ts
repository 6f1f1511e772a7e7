import { getEventListeners } from 'node:events'
import { timeLimited, ToolTimeoutError } from '@loopguard/guards-ai-sdk'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Driver, drivers, type Message, tool } from './support/sdk.ts'

interface Options {
  readonly abortSignal: AbortSignal
}
type Limited = { execute: (input: unknown, options?: object) => unknown }

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
/** Long enough for everything that was not waiting for it. */
const later = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

const limited = (execute: unknown, timeoutMs = 20): Limited => timeLimited({ execute }, timeoutMs) as Limited
const resultsIn = (prompt: readonly Message[] | undefined): unknown[] =>
  (prompt ?? []).flatMap(({ role, content }) => (role === 'tool' && typeof content !== 'string' ? content.map(({ output }) => output) : []))
const callOf = async (driver: Driver, wrapped: unknown, signal?: AbortSignal) => {
  const { prompts } = await driver.run({
    script: [[{ name: 'slow', args: {} }], 'done'],
    tools: { slow: wrapped },
    ...(signal && { signal }),
  })
  return resultsIn(prompts[1])
}

describe.each(drivers)('$title', (driver) => {
  it('gives TOOL_TIMEOUT for a late success, and not before the body has settled', async () => {
    let settled = false
    const slow = timeLimited(
      tool(async (_input: unknown, { abortSignal }: Options) => {
        await aborted(abortSignal)
        await later()
        settled = true
        return 'late'
      }) as object,
      20,
    )
    const results = await callOf(driver, slow)
    expect(settled).toBe(true)
    expect(results).toEqual([
      expect.objectContaining({ type: 'error-text', value: expect.stringContaining('tool call timed out after 20ms') as string }),
    ])
  })

  it('lets a result through that comes in time, and leaves no listener on the signal of the caller', async () => {
    const { signal } = new AbortController()
    const before = getEventListeners(signal, 'abort').length
    const quick = timeLimited(tool(() => 'in time') as object, 60_000)
    expect(await callOf(driver, quick, signal)).toEqual([expect.objectContaining({ value: 'in time' })])
    expect(getEventListeners(signal, 'abort')).toHaveLength(before)
  })

  it('bounds a tool that yields as a whole, and the SDK still sees that it yields', async () => {
    const yielding = (ends: boolean): unknown =>
      tool(async function* (_input: unknown, { abortSignal }: Options) {
        yield 'working'
        if (!ends) await aborted(abortSignal)
        yield 'finished'
      })
    expect(await callOf(driver, timeLimited(yielding(true) as object, 60_000))).toEqual([expect.objectContaining({ value: 'finished' })])
    expect(await callOf(driver, timeLimited(yielding(false) as object, 20))).toEqual([
      expect.objectContaining({ value: expect.stringContaining('timed out after 20ms') as string }),
    ])
  })

  it('takes the cancel of the caller for no timeout', async () => {
    const controller = new AbortController()
    let seen: unknown
    const cancelled = timeLimited(
      tool(async (_input: unknown, { abortSignal }: Options) => {
        queueMicrotask(() => controller.abort(new Error('cancelled')))
        await aborted(abortSignal)
        seen = abortSignal.reason
        throw abortSignal.reason
      }) as object,
      60_000,
    )
    const outcome = await callOf(driver, cancelled, controller.signal).then(String, String)
    expect(seen).toBe(controller.signal.reason)
    expect(outcome).not.toContain('timed out')
  })
})

describe('execute, called by hand', () => {
  it('rejects with a ToolTimeoutError that has the code and the budget, and what the body threw as its cause', async () => {
    const fault = new Error('gave up')
    const { execute } = limited(async (_input: unknown, { abortSignal }: Options) => {
      await aborted(abortSignal)
      throw fault
    })
    const error = await Promise.resolve(execute({}, {})).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ToolTimeoutError)
    expect(error).toMatchObject({ code: 'TOOL_TIMEOUT', timeoutMs: 20, cause: fault })
  })

  it('leaves no listener behind: in time, late, cancelled, and yielding', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const options = { abortSignal: signal }
    await limited(async () => 'in time', 60_000).execute({}, options)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    await expect(limited((_input: unknown, given: Options) => aborted(given.abortSignal)).execute({}, options)).rejects.toThrow('timed out')
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    const pieces: unknown[] = []
    const each = limited(async function* () {
      yield 1
      yield 2
    }, 60_000).execute({}, options) as AsyncIterable<unknown>
    for await (const piece of each) pieces.push([piece, getEventListeners(signal, 'abort').length])
    expect(pieces).toEqual([
      [1, 1],
      [2, 1],
    ])
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    const call = limited((_input: unknown, given: Options) => aborted(given.abortSignal), 60_000).execute({}, options)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    controller.abort()
    await call
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('does not call the body when the caller has cancelled before', async () => {
    const body = vi.fn<() => void>()
    const reason = new Error('too late')
    await expect(limited(body).execute({}, { abortSignal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(body).not.toHaveBeenCalled()
  })

  it('calls the body once, yielding or not, with the input and the other options', async () => {
    const plain = vi.fn<() => string>(() => 'plain')
    await limited(plain).execute({ a: 1 }, { toolCallId: '7' })
    const yielding = vi.fn<() => AsyncGenerator<string>>(async function* () {
      yield 'piece'
    })
    for await (const piece of limited(yielding).execute({ a: 1 }, { toolCallId: '7' }) as AsyncIterable<unknown>)
      expect(piece).toBe('piece')
    for (const body of [plain, yielding]) {
      expect(body.mock.calls).toEqual([
        [{ a: 1 }, expect.objectContaining({ toolCallId: '7', abortSignal: expect.any(AbortSignal) as AbortSignal })],
      ])
    }
  })

  it('needs no options', async () => {
    await expect(limited(() => 'plain').execute({})).resolves.toBe('plain')
  })
})

describe('the tool', () => {
  it('is a copy: the given one stays as it is, its class and its other fields too', async () => {
    class Counter {
      readonly description = 'counts'
      count = 0
      readonly execute: () => Promise<number> = async () => ++this.count
    }
    const counter = new Counter()
    const fields = Object.entries(counter)
    const copy = timeLimited(counter, 60_000)
    expect(copy).toBeInstanceOf(Counter)
    expect(copy.description).toBe('counts')
    expect(await copy.execute()).toBe(1)
    counter.count = 0
    expect(Object.entries(counter)).toEqual(fields)
  })

  it('runs its execute as a method of the given one', async () => {
    const given = {
      count: 0,
      async execute() {
        return ++this.count
      },
    }
    expect(await timeLimited(given, 60_000).execute()).toBe(1)
    expect(given.count).toBe(1)
  })

  it('comes back as it is when it has no execute, and a warning says so', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const remote = { description: 'runs in the browser' }
    expect(timeLimited<object>(remote, 20)).toBe(remote)
    expect(warn.mock.calls).toEqual([[expect.stringContaining('has no budget')]])
  })

  it.each([0, -1, Number.NaN, Infinity, 2 ** 31])('is refused a budget of %s ms before there is a call', (timeoutMs) => {
    expect(() => limited(() => {}, timeoutMs)).toThrow(expect.objectContaining({ code: 'TIMEOUT_OUT_OF_RANGE' }) as Error)
  })
})
