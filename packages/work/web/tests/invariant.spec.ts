import { Context } from '@deepseek-ai/cordis'
import { mountInvariants } from '@loopguard/testkit'
import WebRuntime, { type WebConnect } from '@loopguard/web'
import * as httpFetchPlugin from '@loopguard/web/http-fetch'
import * as webInvariant from '@loopguard/web/invariant'
import { busOf, resolveContained } from '@loopguard/cordis-internals'
import { describe, expect, it, onTestFinished } from 'vitest'
import { httpFetch } from '../src/http/fetch.ts'
import { DISGUISES, PUBLIC } from './addresses.ts'
import { connects, failureOf, page } from './host.ts'

async function watched() {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  const watch = await mountInvariants(ctx, { package_allowlist: ['^@loopguard/web$'] })
  const companion = ctx.plugin(webInvariant)
  await companion
  await ctx.plugin(WebRuntime)
  const announce = (event: WebConnect): void => resolveContained(busOf(ctx), null, 'web/connect', [event])()
  return { ctx, watch, companion, announce }
}

describe('http-fetch connects to public addresses only', () => {
  it('trips when the rule lets a private address through, before the connection is made', async () => {
    const { port, requests } = await page('secret')
    const { ctx, watch, announce } = await watched()
    ctx.web.registerFetch(httpFetch({ allowPrivateNetwork: false, isPublic: () => true, onConnect: announce }))
    expect(await connects(() => failureOf(ctx.web.fetch({ url: `http://127.0.0.1:${port}/` })))).toBe(0)
    expect(requests).toHaveLength(0)
    watch.assertBroken('@loopguard/web', `it is about to connect to 127.0.0.1, which is not public, for http://127.0.0.1:${port}/`)
  })

  it('trips when one of several addresses is private', async () => {
    const { watch, announce } = await watched()
    expect(() => announce({ url: 'http://a.test/', addresses: ['8.8.8.8', '::ffff:10.0.0.1'], allowPrivateNetwork: false })).toThrow(
      '::ffff:10.0.0.1',
    )
    watch.assertBroken('@loopguard/web', /about to connect to ::ffff:10\.0\.0\.1, which is not public/)
  })

  it.each([...new Set(DISGUISES.map(([, address]) => address))])('knows %s by tables of its own', async (address) => {
    const { watch, announce } = await watched()
    expect(() => announce({ url: 'http://a.test/', addresses: [address], allowPrivateNetwork: false })).toThrow(address)
    expect(watch.violations).toHaveLength(1)
  })
})

describe('the companion is silent about', () => {
  it('public addresses', async () => {
    const { watch, announce } = await watched()
    announce({ url: 'http://a.test/', addresses: PUBLIC, allowPrivateNetwork: false })
    expect(watch.violations).toEqual([])
  })

  it('private ones that the config allows', async () => {
    const { origin } = await page('inside')
    const { ctx, watch } = await watched()
    const events: WebConnect[] = []
    ctx.on('web/connect', (event) => void events.push(event))
    await ctx.plugin(httpFetchPlugin, { allowPrivateNetwork: true })
    expect((await ctx.web.fetch({ url: origin })).text).toBe('inside')
    expect(events).toEqual([{ url: `${origin}/`, addresses: ['127.0.0.1'], allowPrivateNetwork: true }])
    expect(watch.violations).toEqual([])
  })

  it('anything, once it is gone', async () => {
    const { watch, companion, announce } = await watched()
    await companion.dispose()
    announce({ url: 'http://a.test/', addresses: ['127.0.0.1'], allowPrivateNetwork: false })
    expect(watch.violations).toEqual([])
  })
})

it('a listener of web/connect that fails keeps no page from the model', async () => {
  const { origin } = await page('inside')
  const { ctx } = await watched()
  ctx.on('web/connect', () => {
    throw new Error('oops')
  })
  await ctx.plugin(httpFetchPlugin, { allowPrivateNetwork: true })
  expect((await ctx.web.fetch({ url: origin })).text).toBe('inside')
})
