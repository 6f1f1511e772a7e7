import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { idleWatchdog } from '@loopguard/timeout'
import { afterEach, beforeEach, expect, it } from 'vitest'

let server: Server
let url: string
let opened: Promise<ServerResponse>

beforeEach(async () => {
  opened = new Promise((resolve) => {
    server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.write('first')
      resolve(response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

async function stream(signal: AbortSignal): Promise<AsyncIterator<Uint8Array>> {
  const { body } = await fetch(url, { signal })
  if (!body) throw new Error('no body')
  return body[Symbol.asyncIterator]()
}

it('a real HTTP stream that stalls is aborted, closed on both ends, and told from a cancel', async () => {
  using watch = idleWatchdog(undefined, 100, 'STREAM_IDLE')
  const chunks = await stream(watch.signal)
  const response = await opened
  const closed = once(response, 'close')
  const first = await watch.next(chunks)
  expect(Buffer.from(first.value ?? []).toString()).toBe('first')
  const start = performance.now()
  const failure: unknown = await watch.next(chunks).catch((error: unknown) => error)
  expect(performance.now() - start).toBeGreaterThan(98)
  expect(failure).toBe(watch.expiry)
  expect(failure).toMatchObject({ code: 'STREAM_IDLE', timeoutMs: 100 })
  await closed
})

it('a real HTTP stream whose user leaves while it stalls is cancelled, not timed out', async () => {
  const user = new AbortController()
  using watch = idleWatchdog(user.signal, 10_000, 'STREAM_IDLE')
  const chunks = await stream(watch.signal)
  const closed = once(await opened, 'close')
  await watch.next(chunks)
  const stalled = watch.next(chunks)
  const reason = new Error('the user left')
  user.abort(reason)
  await expect(stalled).rejects.toBe(reason)
  expect(watch.expiry).toBeUndefined()
  await closed
})

it('a real HTTP stream that is read to its end in time is left alone', async () => {
  using watch = idleWatchdog(undefined, 10_000, 'STREAM_IDLE')
  const chunks = await stream(watch.signal)
  const response = await opened
  await watch.next(chunks)
  response.end('last')
  const last = await watch.next(chunks)
  expect(Buffer.from(last.value ?? []).toString()).toBe('last')
  expect((await watch.next(chunks)).done).toBe(true)
  expect(watch.signal.aborted).toBe(false)
})
