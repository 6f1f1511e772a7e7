import { Context } from '@deepseek-ai/cordis'
import WebRuntime, { type FetchedPage, type FetchProvider, type SearchProvider } from '@loopguard/web'
import * as httpFetchPlugin from '@loopguard/web/http-fetch'
import * as searchPlugin from '@loopguard/web/search-http'
import * as webTools from '@loopguard/web/tools'
import { describe, expect, it, onTestFinished } from 'vitest'
import { failureOf, host, said } from './host.ts'

const found: FetchedPage = { url: 'http://a.test/', status: 200, contentType: 'text/plain', text: 'a page' }

const fetcher = (id: string, { available = () => true, ...rest }: Partial<FetchProvider> = {}): FetchProvider => ({
  id,
  available,
  fetch: async () => ({ ...found, text: id }),
  ...rest,
})
const searcher = (id: string): SearchProvider => ({ id, available: () => true, search: async () => [{ title: id, url: 'http://a.test/' }] })

async function service(config: object = {}): Promise<Context> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(WebRuntime, config)
  return ctx
}

const request = { url: 'http://a.test/' }
const query = { query: 'a', maxResults: 8 }

describe('the provider', () => {
  it('is the only one that is available', async () => {
    const { web } = await service()
    web.registerFetch(fetcher('off', { available: () => false }))
    web.registerFetch(fetcher('truthy', { available: () => 1 as never }))
    web.registerFetch(fetcher('on'))
    web.registerSearch(searcher('s'))
    expect((await web.fetch(request)).text).toBe('on')
    expect(await web.search(query)).toEqual([{ title: 's', url: 'http://a.test/' }])
  })

  it('is the one that the config names, also among several', async () => {
    const { web } = await service({ fetchProvider: 'b', searchProvider: 't' })
    for (const id of ['a', 'b', 'c']) web.registerFetch(fetcher(id))
    for (const id of ['s', 't']) web.registerSearch(searcher(id))
    expect((await web.fetch(request)).text).toBe('b')
    expect((await web.search(query))[0]?.title).toBe('t')
  })

  it('is asked anew for each request whether it is available', async () => {
    const { web } = await service()
    let isThere = false
    web.registerFetch(fetcher('a', { available: () => isThere }))
    expect((await failureOf(web.fetch(request))).code).toBe('WEB_PROVIDER_UNAVAILABLE')
    isThere = true
    expect((await web.fetch(request)).text).toBe('a')
  })

  it.each<[string, object, string[], { code: string; message: string }]>([
    [
      'none is registered',
      {},
      [],
      { code: 'WEB_PROVIDER_UNAVAILABLE', message: 'web: no fetch provider is available; none is registered' },
    ],
    [
      'none is available',
      {},
      ['off'],
      { code: 'WEB_PROVIDER_UNAVAILABLE', message: 'web: no fetch provider is available; registered: "off"' },
    ],
    [
      'several are available',
      {},
      ['a', 'b'],
      {
        code: 'WEB_PROVIDER_AMBIGUOUS',
        message: 'web: several fetch providers are available: "a", "b"; name one as `fetchProvider` in the row @loopguard/web',
      },
    ],
    [
      'the config names one that is not registered',
      { fetchProvider: 'x' },
      ['a'],
      { code: 'WEB_PROVIDER_MISSING', message: 'web: no fetch provider "x" is registered; registered: "a"' },
    ],
    [
      'the config names one that is not available',
      { fetchProvider: 'off' },
      ['off', 'a'],
      { code: 'WEB_PROVIDER_UNAVAILABLE', message: 'web: the fetch provider "off" is not available' },
    ],
  ])('is refused when %s', async (_what, config, ids, failure) => {
    const { web } = await service(config)
    for (const id of ids) web.registerFetch(fetcher(id, { available: () => id !== 'off' }))
    expect(await failureOf(web.fetch(request))).toEqual(failure)
  })

  it('is refused for a search by the same rules', async () => {
    const { web } = await service()
    expect((await failureOf(web.search(query))).message).toBe('web: no search provider is available; none is registered')
    web.registerSearch(searcher('a'))
    web.registerSearch(searcher('b'))
    expect((await failureOf(web.search(query))).message).toContain('name one as `searchProvider`')
  })

  it('goes with its disposer, and with the fiber that registered it', async () => {
    const ctx = await service()
    const dispose = ctx.web.registerFetch(fetcher('a'))
    const plugin = ctx.plugin({ name: 'mine', inject: ['web'], apply: (own: Context) => void own.web.registerFetch(fetcher('b')) })
    await plugin
    dispose()
    expect((await ctx.web.fetch(request)).text).toBe('b')
    await plugin.dispose()
    expect((await failureOf(ctx.web.fetch(request))).code).toBe('WEB_PROVIDER_UNAVAILABLE')
    ctx.web.registerFetch(fetcher('a'))
    expect((await ctx.web.fetch(request)).text).toBe('a')
  })
})

describe('a registration is refused', () => {
  it.each([
    ['without an id', fetcher(' '), 'web: a fetch provider must have a non-blank id, got " "'],
    ['of nothing', undefined as never, 'web: a fetch provider must have a non-blank id, got undefined'],
    [
      'without available()',
      { id: 'a', fetch: async () => found } as never,
      'web: a fetch provider must have available(), "a" has undefined',
    ],
    ['without fetch()', { id: 'a', available: () => true } as never, 'web: a fetch provider must have fetch(), "a" has undefined'],
  ])('%s', async (_what, provider, message) => {
    const { web } = await service()
    expect(await failureOf((async () => web.registerFetch(provider))())).toEqual({ code: 'WEB_BAD_PROVIDER', message })
  })

  it('under an id that is taken, which another kind of work does not take', async () => {
    const { web } = await service()
    web.registerFetch(fetcher('a'))
    web.registerSearch(searcher('a'))
    expect(await failureOf((async () => web.registerFetch(fetcher('a')))())).toEqual({
      code: 'WEB_PROVIDER_EXISTS',
      message: 'web: a fetch provider "a" is registered already',
    })
  })
})

describe('what a provider does wrong', () => {
  it.each<[string, unknown, string]>([
    ['no page', undefined, '`url` of its answer must be text, got undefined'],
    ['a status that is text', { ...found, status: '200' }, '`status` of its answer must be a number, got "200"'],
    ['no content type', { ...found, contentType: undefined }, '`contentType` of its answer must be text, got undefined'],
    ['bytes', { ...found, text: Buffer.from('x') }, '`text` of its answer must be text, got an object'],
  ])('is named: it answers with %s', async (_what, answer, message) => {
    const { web } = await service()
    web.registerFetch(fetcher('odd', { fetch: async () => answer as never }))
    expect(await failureOf(web.fetch(request))).toEqual({ code: 'WEB_PROVIDER_ERROR', message: `web: provider "odd" failed: ${message}` })
  })

  it.each<[string, unknown, string]>([
    ['no list', {}, 'its answer must be an array of hits, got an object'],
    ['a hit without a URL', [{ title: 'a' }], '`[0].url` of its answer must be text, got undefined'],
    ['a hit without a title', [{ title: 'a', url: 'b' }, null], '`[1].title` of its answer must be text, got undefined'],
  ])('is named: it finds %s', async (_what, answer, message) => {
    const { web } = await service()
    web.registerSearch({ ...searcher('odd'), search: async () => answer as never })
    expect(await failureOf(web.search(query))).toEqual({ code: 'WEB_PROVIDER_ERROR', message: `web: provider "odd" failed: ${message}` })
  })

  it('is named: it throws; a code of ours stays, any other does not', async () => {
    const { web } = await service()
    let thrown: unknown
    web.registerFetch(fetcher('odd', { fetch: () => Promise.reject(thrown as Error) }))
    thrown = Object.assign(new Error('reset'), { code: 'ECONNRESET' })
    expect(await failureOf(web.fetch(request))).toEqual({ code: 'WEB_PROVIDER_ERROR', message: 'web: provider "odd" failed: reset' })
    thrown = Object.assign(new Error('too much'), { code: 'WEB_TOO_LARGE' })
    await expect(web.fetch(request)).rejects.toBe(thrown)
    web.registerFetch(
      fetcher('worse', {
        available: () => {
          throw new Error('no idea')
        },
      }),
    )
    expect(await failureOf(web.fetch(request))).toEqual({
      code: 'WEB_PROVIDER_ERROR',
      message: 'web: available() of provider "worse" failed: no idea',
    })
  })

  it('is cut: more hits than it was asked for', async () => {
    const { web } = await service()
    web.registerSearch({
      ...searcher('many'),
      search: async () => Array.from({ length: 9 }, (_, i) => ({ title: `${i}`, url: `http://${i}/`, snippet: 5 as never })),
    })
    expect(await web.search({ query: 'a', maxResults: 2 })).toEqual([
      { title: '0', url: 'http://0/' },
      { title: '1', url: 'http://1/' },
    ])
  })
})

describe('the tools', () => {
  it('tell the model that there is no provider', async () => {
    const { read, call } = await host({ fetch: false })
    expect(await read('http://a.test/')).toBe('Error: web: no fetch provider is available; none is registered')
    expect(said(await call('web_search', { queries: ['a'] }))).toBe('Error: web: no search provider is available; none is registered')
  })

  it('declare their budgets, of 30 seconds, and forward nothing else of them', async () => {
    const { ctx } = await host()
    expect([ctx.tools.get('web_fetch')?.timeoutMs, ctx.tools.get('web_search')?.timeoutMs]).toEqual([30_000, 30_000])
    expect(JSON.stringify(ctx.tools.schemas())).not.toContain('30000')
    const other = await host({ tools: { fetchTimeoutMs: 5, searchTimeoutMs: 6 } })
    expect([other.ctx.tools.get('web_fetch')?.timeoutMs, other.ctx.tools.get('web_search')?.timeoutMs]).toEqual([5, 6])
  })

  it('can be left out one by one', async () => {
    const names = async (tools: object) => (await host({ tools })).ctx.tools.schemas().map(({ name }) => name)
    expect(await names({})).toEqual(['web_fetch', 'web_search'])
    expect(await names({ fetch: false })).toEqual(['web_search'])
    expect(await names({ search: false })).toEqual(['web_fetch'])
  })

  it('show a page to the last character of fetchMaxOutputChars, and mark what they cut', async () => {
    let answer = found
    const { ctx, read } = await host({ fetch: false, tools: { fetchMaxOutputChars: 3 } })
    ctx.web.registerFetch(fetcher('a', { fetch: async () => answer }))
    const text = async (more: Partial<FetchedPage>): Promise<string> => (
      (answer = { ...found, ...more }),
      (await read('http://a.test/')).split('\n').slice(2).join('\n')
    )
    expect(await text({ text: 'abc' })).toBe('abc')
    expect(await text({ text: 'abcd' })).toBe('abc\n\n[truncated]')
    expect(await text({ text: 'ab😀' })).toBe('ab\n\n[truncated]')
    expect(await text({ text: 'abc', truncated: true })).toBe('abc\n\n[truncated]')
    expect(await text({ text: '' })).toBe('(no content)')
  })

  it('refuse arguments of another shape', async () => {
    const { call } = await host()
    for (const args of [{}, { url: 5 }, { url: 'http://a.test/', timeoutMs: 5 }])
      expect(said(await call('web_fetch', args))).toMatch(/^Error: invalid arguments: /)
    for (const args of [{}, { queries: 'a' }, { queries: [] }, { queries: [' '] }, { queries: ['a', 'b', 'c', 'd', 'e'] }])
      expect(said(await call('web_search', args))).toMatch(/^Error: invalid arguments: /)
  })
})

describe('a config is refused', () => {
  it.each<[string, object, object, string]>([
    ['an unknown key', WebRuntime, { fetchprovider: 'a' }, 'web: unknown key `fetchprovider`, did you mean `fetchProvider`?'],
    ['an unknown key of the tools', webTools, { fetchTimeout: 5 }, 'web-tools: unknown key `fetchTimeout`'],
    ['a budget of 0', webTools, { fetchTimeoutMs: 0 }, 'fetchTimeoutMs'],
    ['a budget that no timer can have', webTools, { searchTimeoutMs: 2_147_483_648 }, 'searchTimeoutMs'],
    ['a fraction', webTools, { searchMaxResults: 1.5 }, 'searchMaxResults'],
    ['an unknown key of http-fetch', httpFetchPlugin, { allowPrivate: true }, 'web-http-fetch: unknown key `allowPrivate`'],
    ['text for a flag', httpFetchPlugin, { allowPrivateNetwork: 'no' }, 'allowPrivateNetwork'],
    ['no endpoint', searchPlugin, {}, 'endpoint'],
    ['an endpoint that is no URL', searchPlugin, { endpoint: 'exa' }, '"exa" is not an absolute URL'],
    ['an endpoint with credentials', searchPlugin, { endpoint: 'https://a:b@c.test/' }, 'holds credentials'],
  ])('for %s', async (_what, plugin, config, message) => {
    const { ctx } = await host({ fetch: false })
    await expect(async () => ctx.plugin(plugin as never, config as never)).rejects.toThrow(message)
  })
})
