import diagnostics from 'node:diagnostics_channel'
import { getEventListeners } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate as tick } from 'node:timers/promises'
import { gate } from '@loopguard/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { allOrFirstFailure } from '../src/all.ts'
import { unlessAborted } from '../src/http/abort.ts'
import { httpFetch } from '../src/http/fetch.ts'
import { markdownOf } from '../src/http/markdown.ts'
import { page, site } from './host.ts'

const inside = httpFetch({ allowPrivateNetwork: true, lookup: async () => ['127.0.0.1'] })

/** Waits until nothing listens on a signal: a socket lets go of it when it has closed. */
async function released(signal: AbortSignal): Promise<void> {
  while (getEventListeners(signal, 'abort').length > 0) await tick()
}

it.each<[string, () => Promise<{ readonly port: number }>]>([
  ['text', () => page('text')],
  ['HTML', () => page('<p>html', { 'content-type': 'text/html' })],
  ['an error', () => page('x', { 'content-type': 'image/png' })],
  ['a redirect', () => site((request, response) => void response.writeHead(request.url === '/' ? 302 : 200, { location: '/next' }).end())],
  ['a refusal of the connection', async () => ({ port: 1 })],
])('a fetch that comes to %s leaves nothing on its signal', async (_what, server) => {
  const { port } = await server()
  const { signal } = new AbortController()
  await inside.fetch({ url: `http://site.test:${port}/` }, signal).catch(() => {})
  await released(signal)
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

it('a conversion leaves nothing on its signal, done or ended', async () => {
  const controller = new AbortController()
  expect(await markdownOf('<p>a', controller.signal)).toEqual({ text: 'a', truncated: false })
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  const converting = markdownOf('<p>a', controller.signal)
  const reason = new Error('the user left')
  controller.abort(reason)
  await expect(converting).rejects.toBe(reason)
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
})

it('work that is waited for leaves nothing on its signal, done, failed or given up', async () => {
  const controller = new AbortController()
  expect(await unlessAborted(Promise.resolve(1), controller.signal)).toBe(1)
  await expect(unlessAborted(Promise.reject(new Error('no')), controller.signal)).rejects.toThrow('no')
  await tick()
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  const late = gate()
  const given = unlessAborted(late.opened, controller.signal)
  const reason = new Error('the user left')
  controller.abort(reason)
  await expect(given).rejects.toBe(reason)
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  await expect(unlessAborted(late.opened, controller.signal)).rejects.toBe(reason)
  late.open()
})

it('works side by side leave nothing on their signal, done or failed, and follow it', async () => {
  const controller = new AbortController()
  const { signal } = controller
  expect(await allOrFirstFailure([async () => 1, async () => 2], signal)).toEqual([1, 2])
  await expect(allOrFirstFailure([async () => 1, () => Promise.reject(new Error('no'))], signal)).rejects.toThrow('no')
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  const reason = new Error('the user left')
  const waiting = allOrFirstFailure([(own) => unlessAborted(new Promise<never>(() => {}), own)], signal)
  controller.abort(reason)
  await expect(waiting).rejects.toBe(reason)
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  await expect(allOrFirstFailure([async () => 1], signal)).rejects.toBe(reason)
})

it('the socket of a fetch has no clock of its own', async () => {
  const sockets: Socket[] = []
  const note = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket)
  diagnostics.subscribe('net.client.socket', note)
  onTestFinished(() => void diagnostics.unsubscribe('net.client.socket', note))
  const asked = gate()
  const { port, closed } = await site(() => asked.open())
  const controller = new AbortController()
  const fetching = inside.fetch({ url: `http://site.test:${port}/` }, controller.signal)
  await asked.opened
  expect(sockets.map(({ timeout = 0 }) => timeout)).toEqual([0])
  controller.abort(new Error('enough'))
  await expect(fetching).rejects.toThrow('enough')
  await closed()
  expect(sockets[0]?.destroyed).toBe(true)
})
