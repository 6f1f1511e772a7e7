import { getEventListeners } from 'node:events'
import { timeLimited, ToolTimeoutError } from '@loopguard/guards-openai-agents'
import { expect, it } from 'vitest'

interface Details {
  readonly signal?: AbortSignal
  readonly resumeState?: string
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

it('hands input, context, result and the other details through, and leaves no listener', async () => {
  const { signal } = new AbortController()
  const seen: unknown[] = []
  const body = timeLimited((...given: [object, string, Details]) => {
    seen.push(...given)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    return 'in time'
  }, 60_000)
  expect(await body({ a: 1 }, 'context', { signal, resumeState: 's' })).toBe('in time')
  expect(seen).toEqual([{ a: 1 }, 'context', { resumeState: 's', signal: expect.any(AbortSignal) as AbortSignal }])
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
])('answers with the timeout after the function has settled, although it %s', async (_what, end) => {
  let isSettled = false
  const late = timeLimited(async (_input: object, _context: undefined, { signal }) => {
    await aborted(signal)
    isSettled = true
    return end()
  }, 20)
  expect(await late({}, undefined, { toolCall: {} })).toBe('Error: tool call timed out after 20ms')
  expect(isSettled).toBe(true)
})

it('throws where no call of a model waits for an answer', async () => {
  const late = timeLimited((_input: object, _context: undefined, { signal }) => aborted(signal), 20)
  const error: unknown = await late({}, undefined).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ToolTimeoutError)
  expect(error).toMatchObject({ code: 'TOOL_TIMEOUT', message: 'tool call timed out after 20ms' })
})

it('takes the cancel of the caller for no timeout, and leaves no listener', async () => {
  const controller = new AbortController()
  const call = timeLimited(async (_input: object, _context: undefined, { signal }) => {
    await aborted(signal)
    throw signal.reason
  }, 60_000)({}, undefined, { signal: controller.signal, toolCall: {} })
  const reason = new Error('cancelled')
  controller.abort(reason)
  await expect(call).rejects.toBe(reason)
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
})

it('refuses a budget that is none before there is a call', () => {
  expect(() => timeLimited(() => {}, 0)).toThrow(expect.objectContaining({ code: 'TIMEOUT_OUT_OF_RANGE' }) as Error)
})
