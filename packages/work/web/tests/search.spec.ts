import { getEventListeners } from 'node:events'
import { json } from 'node:stream/consumers'
import { gate } from '@loopguard/testkit'
import type { SearchHit } from '@loopguard/web'
import * as searchPlugin from '@loopguard/web/search-http'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { codeOf, failureOf, host, said, site, type WebHost } from './host.ts'
import { timedOut } from './timed-out.ts'

/** A host whose provider finds what `find` says. */
async function searching(
  find: (query: string, signal: AbortSignal | undefined) => Promise<readonly SearchHit[]> | readonly SearchHit[],
  tools: object = {},
): Promise<WebHost> {
  const found = await host({ fetch: false, tools })
  found.ctx.web.registerSearch({ id: 's', available: () => true, search: async ({ query }, signal) => find(query, signal) })
  return found
}

const hit = (name: string): SearchHit => ({ title: name, url: `http://${name}.test/` })

describe('web_search', () => {
  it('shows a line for each hit, with what is known of it', async () => {
    const { call } = await searching(() => [
      { title: 'A', url: 'http://a.test/', snippet: 'About a', date: '2026-01-02' },
      { title: 'B', url: 'http://b.test/', snippet: 'About b' },
      { title: 'C', url: 'http://c.test/', date: '2026' },
      { title: '', url: 'http://d.test/' },
    ])
    expect(said(await call('web_search', { queries: ['x'] }))).toBe(
      '- [A](http://a.test/) — About a (2026-01-02)\n- [B](http://b.test/) — About b\n- [C](http://c.test/) (2026)\n- [http://d.test/](http://d.test/)',
    )
  })

  it('keeps each hit on its line, and its title in its brackets', async () => {
    const { call } = await searching(() => [{ title: 'a\n[b](c) ', url: 'http://a.test/', snippet: `\n${'long '.repeat(200)}`, date: '' }])
    const text = said(await call('web_search', { queries: ['x'] }))
    expect(text).toMatch(/^- \[a \\\[b\\\]\(c\)\]\(http:\/\/a\.test\/\) — long (?:long )+long?…?/)
    expect(text).not.toContain('\n')
    expect(text.length).toBeLessThan(600)
  })

  it('says so when there is nothing', async () => {
    const { call } = await searching(() => [])
    expect(said(await call('web_search', { queries: ['a', 'b'] }))).toBe('No results.')
  })

  it('takes the first of each query, then the second of each, and a URL once', async () => {
    const lists: Record<string, SearchHit[]> = {
      x: ['a', 'b', 'c'].map(hit),
      y: ['b', 'd'].map(hit),
      z: [{ title: 'A', url: 'HTTP://A.test' }, hit('e')],
    }
    const { call } = await searching((query) => lists[query] ?? [])
    const text = said(await call('web_search', { queries: ['x', ' y ', 'z'] }))
    expect(text.match(/(?<=\[)\w+/g)).toEqual(['a', 'b', 'd', 'e', 'c'])
  })

  it('shows no more than searchMaxResults in all, and no URL twice, whatever is found', async () => {
    const names = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 6 })
    let lists: string[][] = []
    const { call } = await searching((query) => (lists[Number(query)] ?? []).map(hit), { searchMaxResults: 3 })
    await fc.assert(
      fc.asyncProperty(fc.array(names, { minLength: 1, maxLength: 4 }), async (given) => {
        lists = given
        const text = said(await call('web_search', { queries: given.map((_, index) => String(index)) }))
        const shown = text.match(/(?<=\[)\w+/g) ?? []
        const all = new Set(given.flatMap((list) => list.slice(0, 3)))
        expect(new Set(shown).size).toBe(shown.length)
        expect(shown).toHaveLength(Math.min(3, all.size))
      }),
      { numRuns: 50 },
    )
  })

  it('runs the queries side by side', async () => {
    const all = gate()
    let running = 0
    const { call } = await searching(async (query) => {
      if (++running === 4) all.open()
      await all.opened
      return [hit(query)]
    })
    expect(said(await call('web_search', { queries: ['a', 'b', 'c', 'd'] })).split('\n')).toHaveLength(4)
  })

  it('ends the others with the first failure, waits for them, and says which it was', async () => {
    const reasons: unknown[] = []
    const settled = gate()
    const failure = Object.assign(new Error('no key'), { code: 'WEB_PROVIDER_ERROR' })
    const { call } = await searching(async (query, signal) => {
      if (query === 'bad') throw failure
      await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
      await new Promise((resolve) => setImmediate(resolve))
      reasons.push(signal?.reason)
      if (reasons.length === 2) settled.open()
      throw new Error('aborted')
    })
    const user = new AbortController()
    const result = await call('web_search', { queries: ['a', 'bad', 'b'] }, user.signal)
    expect(settled.isOpen).toBe(true)
    expect([codeOf(result), said(result)]).toEqual(['WEB_PROVIDER_ERROR', 'Error: no key'])
    expect(reasons).toEqual([failure, failure])
    expect(getEventListeners(user.signal, 'abort')).toHaveLength(0)
  })
})

describe('search-http', () => {
  interface Asked {
    readonly headers: Record<string, unknown>
    readonly body: unknown
  }

  /** A search service on loopback that answers with this, and a host that asks it. */
  async function engine(answer: string | object, { status = 200, apiKeyEnv }: { status?: number; apiKeyEnv?: string } = {}) {
    const asked: Asked[] = []
    const { origin } = await site((request, response) => {
      void json(request).then((body) => {
        asked.push({ headers: request.headers, body })
        response.writeHead(status, { 'content-type': 'application/json' }).end(typeof answer === 'string' ? answer : JSON.stringify(answer))
      })
    })
    const { ctx, call } = await host({ fetch: false })
    await ctx.plugin(searchPlugin, { endpoint: `${origin}/search`, ...(apiKeyEnv !== undefined && { apiKeyEnv }) })
    return { origin, asked, ctx, call }
  }

  it('posts the query and the number, with the key, and reads what comes back', async () => {
    vi.stubEnv('TEST_SEARCH_KEY', 'secret')
    onTestFinished(() => void vi.unstubAllEnvs())
    const { asked, call } = await engine(
      {
        results: [
          { title: 'A', url: 'http://a.test/', text: 'About a', publishedDate: '2026-01-02', score: 1 },
          { title: null, url: 'http://b.test/' },
          { title: 'no url' },
          null,
        ],
      },
      { apiKeyEnv: 'TEST_SEARCH_KEY' },
    )
    expect(said(await call('web_search', { queries: ['what is a'] }))).toBe(
      '- [A](http://a.test/) — About a (2026-01-02)\n- [http://b.test/](http://b.test/)',
    )
    expect(asked).toEqual([
      {
        headers: expect.objectContaining({ 'x-api-key': 'secret', 'content-type': 'application/json' }) as object,
        body: { query: 'what is a', numResults: 8 },
      },
    ])
  })

  it('sends no key where none is asked for', async () => {
    const { asked, call } = await engine({ results: [] })
    expect(said(await call('web_search', { queries: ['a'] }))).toBe('No results.')
    expect(asked[0]?.headers).not.toHaveProperty('x-api-key')
  })

  it('is not available while its key is missing', async () => {
    const { call, asked } = await engine({ results: [] }, { apiKeyEnv: 'TEST_NO_SUCH_KEY' })
    const result = await call('web_search', { queries: ['a'] })
    expect([codeOf(result), said(result)]).toEqual([
      'WEB_PROVIDER_UNAVAILABLE',
      'Error: web: no search provider is available; registered: "http"',
    ])
    expect(asked).toEqual([])
  })

  it.each<[string, string | object, number, string]>([
    ['a refusal', 'bad key', 401, 'answered the search with HTTP 401, bad key'],
    ['a redirect', '', 302, 'answered the search with HTTP 302'],
    ['no JSON', '<html>', 200, 'answered the search with no JSON: <html>'],
    ['another shape', { hits: [] }, 200, 'answered the search with `results` that are undefined, not an array'],
    ['null', 'null', 200, 'answered the search with `results` that are undefined, not an array'],
    ['too much', `{"results":[${' '.repeat(6_000_000)}]}`, 200, 'answered the search with an answer that is too long'],
  ])('an answer of %s is an error that names the service, and not the key', async (_what, answer, status, message) => {
    vi.stubEnv('TEST_SEARCH_KEY', 'secret')
    onTestFinished(() => void vi.unstubAllEnvs())
    const { origin, ctx } = await engine(answer, { status, apiKeyEnv: 'TEST_SEARCH_KEY' })
    const failure = await failureOf(ctx.web.search({ query: 'a', maxResults: 1 }))
    expect(failure).toEqual({ code: 'WEB_PROVIDER_ERROR', message: `${origin} ${message}` })
  })

  it('a service that is not there is an error that names it', async () => {
    const { ctx } = await host({ fetch: false })
    await ctx.plugin(searchPlugin, { endpoint: 'http://127.0.0.1:1/' })
    expect(await failureOf(ctx.web.search({ query: 'a', maxResults: 1 }))).toEqual({
      code: 'WEB_PROVIDER_ERROR',
      message: 'http://127.0.0.1:1 could not be asked: connect ECONNREFUSED 127.0.0.1:1',
    })
  })

  it('a service that never answers is a timeout, and the socket is shut', async () => {
    const { origin, closed } = await site(() => {})
    const { ctx, call } = await host({ fetch: false, tools: { searchTimeoutMs: 100 } })
    await ctx.plugin(searchPlugin, { endpoint: origin })
    expect(await call('web_search', { queries: ['a', 'b'] })).toEqual(timedOut(100))
    await closed(2)
  })
})
