import { getEventListeners } from 'node:events'
import { timedOut } from './timed-out.ts'
import { gate } from '@loopguard/testkit'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { httpFetch } from '../src/http/fetch.ts'
import { codeOf, failureOf, host, page, said, site } from './host.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** Sends a byte of a page a second, which is never enough. */
const dribble = () =>
  site((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' })
    const timer = setInterval(() => response.write('.'), 1_000)
    response.write('.')
    response.on('close', () => clearInterval(timer))
  })

describe('a page that does not come within fetchTimeoutMs', () => {
  it.each([
    ['a byte a second', dribble],
    ['headers that never come', () => site(() => {})],
    [
      'a redirect, and then nothing',
      () => site((request, response) => void (request.url === '/' && response.writeHead(302, { location: '/next' }).end())),
    ],
  ])('%s: the model reads the one name for it, and the socket is shut', async (_what, server) => {
    const { origin, closed } = await server()
    const { call } = await host({ tools: { fetchTimeoutMs: 100 } })
    const { signal } = new AbortController()
    expect(await call('web_fetch', { url: origin }, signal)).toEqual(timedOut(100))
    await closed()
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('a name that no resolver answers: the same, and nobody waits for the resolver', async () => {
    const { ctx, call } = await host({ tools: { fetchTimeoutMs: 50 }, fetch: false })
    ctx.web.registerFetch(httpFetch({ allowPrivateNetwork: true, lookup: () => new Promise(() => {}) }))
    expect(await call('web_fetch', { url: 'http://slow.test/' })).toEqual(timedOut(50))
  })

  it('a search: the same', async () => {
    const { ctx, call } = await host({ tools: { searchTimeoutMs: 50 } })
    ctx.web.registerSearch({
      id: 's',
      available: () => true,
      search: (_request, signal) => new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('gone')))),
    })
    expect(await call('web_search', { queries: ['a', 'b'] })).toEqual(timedOut(50))
  })
})

describe('a cancel', () => {
  it('is none, and shuts the socket as well', async () => {
    const entered = gate()
    const { origin, closed } = await site(() => entered.open())
    const { call } = await host()
    const user = new AbortController()
    const result = call('web_fetch', { url: origin }, user.signal)
    await entered.opened
    user.abort(new Error('the user left'))
    expect(codeOf(await result)).not.toBe('TOOL_TIMEOUT')
    expect(said(await result)).toBe('Error: the user left')
    await closed()
    expect(getEventListeners(user.signal, 'abort')).toHaveLength(0)
  })

  it('before the call asks nobody', async () => {
    const { origin, requests } = await page('x')
    const { ctx, call } = await host()
    const reason = new Error('too late')
    expect(codeOf(await call('web_fetch', { url: origin }, AbortSignal.abort(reason)))).toBe('ABORTED_BEFORE_DISPATCH')
    await expect(ctx.web.fetch({ url: origin }, AbortSignal.abort(reason))).rejects.toBe(reason)
    await expect(httpFetch({ allowPrivateNetwork: true }).fetch({ url: origin }, AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(requests).toHaveLength(0)
  })
})

describe('a provider has no clock', () => {
  it('when a signal comes with the request: an hour of silence is no error', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    const asked = gate()
    const begun = gate()
    let respond = (): void => {}
    const { origin } = await site((_request, response) => {
      respond = () => {
        respond = () => response.end('late')
        response.writeHead(200, { 'content-type': 'text/plain' })
        response.write('so ', () => begun.open())
      }
      asked.open()
    })
    const found = httpFetch({ allowPrivateNetwork: true }).fetch({ url: origin }, new AbortController().signal)
    await asked.opened
    vi.advanceTimersByTime(3_600_000)
    respond()
    await begun.opened
    vi.advanceTimersByTime(3_600_000)
    respond()
    expect((await found).text).toBe('so late')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('but for a request that comes without one: 30 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const asked = gate()
    const { origin, closed } = await site(() => asked.open())
    const found = failureOf(httpFetch({ allowPrivateNetwork: true }).fetch({ url: origin }))
    await asked.opened
    vi.advanceTimersByTime(29_999)
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(1)
    expect(await found).toEqual({ code: 'WEB_TIMEOUT', message: 'no answer within 30000ms, and the request came without a signal' })
    await closed()
    const quick = await page('x')
    expect((await httpFetch({ allowPrivateNetwork: true }).fetch({ url: quick.origin })).text).toBe('x')
    expect(vi.getTimerCount()).toBe(0)
  })
})

it('calls overlap', async () => {
  const both = gate()
  let waiting = 0
  const { origin } = await site((_request, response) => {
    if (++waiting === 2) both.open()
    void both.opened.then(() => response.end('x'))
  })
  const { ctx, call } = await host()
  expect(ctx.tools.executionMode({ name: 'web_fetch', arguments: { url: origin } })).toEqual({ kind: 'parallel' })
  expect(ctx.tools.executionMode({ name: 'web_search', arguments: { queries: ['a'] } })).toEqual({ kind: 'parallel' })
  const results = await Promise.all([call('web_fetch', { url: origin }), call('web_fetch', { url: origin })])
  expect(results.map(codeOf)).toEqual(['success', 'success'])
})
