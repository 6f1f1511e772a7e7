import { getEventListeners } from 'node:events'
import { timeLimited, ToolTimeoutError } from '@loopguard/guards-claude-code'
import { expect, it, vi } from 'vitest'

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

it('hands arguments, result and the rest of the second argument through', async () => {
  const { signal } = new AbortController()
  const handler = vi.fn<(args: { a: number }, extra: object) => string>(() => 'in time')
  expect(await timeLimited(handler, 60_000)({ a: 1 }, { signal, requestId: 7 })).toBe('in time')
  expect(handler.mock.calls).toEqual([[{ a: 1 }, { requestId: 7, signal: expect.any(AbortSignal) as AbortSignal }]])
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

it('aborts the signal, waits for the handler, and then fails with TOOL_TIMEOUT although it succeeded', async () => {
  let isSettled = false
  const late = timeLimited(async (_args: object, { signal }) => {
    await aborted(signal)
    isSettled = true
    return 'late'
  }, 20)
  const error: unknown = await late({}, undefined).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ToolTimeoutError)
  expect(error).toMatchObject({ code: 'TOOL_TIMEOUT', message: 'tool call timed out after 20ms' })
  expect(isSettled).toBe(true)
})

it('takes the cancel of the caller for no timeout, and leaves no listener', async () => {
  const controller = new AbortController()
  const call = timeLimited(async (_args: object, { signal }) => {
    await aborted(signal)
    throw signal.reason
  }, 60_000)({}, { signal: controller.signal })
  const reason = new Error('cancelled')
  controller.abort(reason)
  await expect(call).rejects.toBe(reason)
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
})

it('refuses a budget that is none before there is a call', () => {
  expect(() => timeLimited(() => {}, 0)).toThrow(expect.objectContaining({ code: 'TIMEOUT_OUT_OF_RANGE' }) as Error)
})
