import { getEventListeners } from 'node:events'
import { timeLimited, type ToolConfig, ToolTimeoutError } from '@loopguard/guards-langchain'
import { ToolMessage } from 'langchain'
import { expect, it } from 'vitest'

const aborted = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }))
const toolCall = { id: 'call-1', name: 'slow' }

it('hands arguments, result and the rest of the second argument through, and leaves no listener', async () => {
  const { signal } = new AbortController()
  const seen: unknown[] = []
  const body = (...given: [{ a: number }, ToolConfig]): string => {
    seen.push(...given)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    return 'in time'
  }
  expect(await timeLimited(body, 60_000)({ a: 1 }, { signal, toolCall })).toBe('in time')
  expect(seen).toEqual([{ a: 1 }, { toolCall, signal: expect.any(AbortSignal) as AbortSignal }])
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

it.each([
  ['succeeds', () => 'late'],
  [
    'fails',
    () => {
      throw new Error('late')
    },
  ],
])('answers with an error after the function has settled, although it %s', async (_what, end) => {
  let isSettled = false
  const slow = timeLimited(async (_args: object, { signal }: ToolConfig) => {
    await aborted(signal)
    isSettled = true
    return end()
  }, 20)
  const message = await slow({}, { toolCall })
  expect(isSettled).toBe(true)
  expect(ToolMessage.isInstance(message)).toBe(true)
  expect(message).toMatchObject({ status: 'error', content: 'Error: tool call timed out after 20ms', tool_call_id: 'call-1', name: 'slow' })
})

it('throws where no call of a model waits for an answer', async () => {
  const error: unknown = await timeLimited((_args: object, { signal }: ToolConfig) => aborted(signal), 20)({}, {}).catch(
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ToolTimeoutError)
  expect(error).toMatchObject({ code: 'TOOL_TIMEOUT', timeoutMs: 20 })
})

it('takes a cancel and an error of the function for what they are, and leaves no listener', async () => {
  const controller = new AbortController()
  const call = timeLimited(async (_args: object, { signal }: ToolConfig) => {
    await aborted(signal)
    throw signal?.reason
  }, 60_000)({}, { signal: controller.signal, toolCall })
  const reason = new Error('cancelled')
  controller.abort(reason)
  await expect(call).rejects.toBe(reason)
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  const fault = new Error('broken')
  await expect(timeLimited(() => Promise.reject(fault), 60_000)({}, { toolCall })).rejects.toBe(fault)
})

it('refuses a budget that is none before there is a call', () => {
  expect(() => timeLimited(() => {}, 0)).toThrow(expect.objectContaining({ code: 'TIMEOUT_OUT_OF_RANGE' }) as Error)
})
