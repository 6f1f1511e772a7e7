import { readdir, readFile } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { deadline, TimeoutReason } from '@loopguard/timeout'
import { expect, it, vi } from 'vitest'
import { told } from './samples/budget.ts'
import { budgetOf, outcomeOf } from './samples/classified.ts'
import { lines } from './samples/watched-stream.ts'
import { within } from './samples/within.ts'

it('every sample of the README is a file of tests/samples, to the letter, and the other way round', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  const blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code)
  const samples = new URL('samples/', import.meta.url)
  const files = await Promise.all((await readdir(samples)).map((file) => readFile(new URL(file, samples), 'utf8')))
  expect(new Set(blocks)).toEqual(new Set(files))
})

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })

it('within: a value, a timeout, a failure and a cancel stay apart', async () => {
  expect(await within(1_000, async () => 'value')).toBe('value')
  expect(await within(10, untilAborted)).toBe('too slow')
  await expect(within(1_000, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  const user = new AbortController()
  const cancelled = within(1_000, untilAborted, user.signal)
  user.abort(new Error('the user left'))
  await expect(cancelled).rejects.toThrow('the user left')
})

it('lines: streams what a server sends', async () => {
  const server = createServer((_request, response) => {
    response.write('one')
    setImmediate(() => response.end('two'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  let text = ''
  for await (const line of lines(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)) text += line
  expect(text).toBe('onetwo')
  server.closeAllConnections()
  server.close()
})

it('budgetOf and outcomeOf: clamp and classify', () => {
  expect(budgetOf({})).toBe(10_000)
  expect(budgetOf({ wait_ms: 90_000 })).toBe(60_000)
  expect(() => budgetOf({ wait_ms: 0 })).toThrow('wait_ms must be a positive finite number, got 0')
  expect(outcomeOf(undefined, AbortSignal.abort(new TimeoutReason('READ_TIMEOUT', 50)))).toBe('timed out after 50ms')
  expect(outcomeOf(undefined, AbortSignal.abort(new TimeoutReason('OTHER', 50)))).toBe('cancelled')
  using limit = deadline(undefined, 1_000, 'READ_TIMEOUT')
  expect(outcomeOf('broken', limit.signal)).toBe('failed: broken')
})

it('told: a value, a timeout and a cancel of the user', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    expect(await told(async () => 'done')).toBe('done')
    const late = told(untilAborted)
    vi.advanceTimersByTime(2_000)
    expect(await late).toBe('Error: tool call timed out after 2000ms')
    const user = new AbortController()
    const cancelled = told(untilAborted, user.signal)
    user.abort(new Error('the user left'))
    await expect(cancelled).rejects.toThrow('the user left')
  } finally {
    vi.useRealTimers()
  }
})
