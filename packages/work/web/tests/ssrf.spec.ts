import fc from 'fast-check'
import { BlockList, isIPv6 } from 'node:net'
import { describe, expect, it } from 'vitest'
import { isPublic } from '../src/http/address.ts'
import { httpFetch, type HttpFetchOptions } from '../src/http/fetch.ts'
import { DISGUISES, PUBLIC } from './addresses.ts'
import { codeOf, connects, failureOf, host, page, said, site } from './host.ts'

/** An address that this test calls public, so that there is a first hop: everything else is judged by the real rule. */
const OUTSIDE = '127.0.0.9'

const provider = (options: Partial<HttpFetchOptions> = {}) =>
  httpFetch({ allowPrivateNetwork: false, isPublic: (address) => address === OUTSIDE || isPublic(address), ...options })

interface Row {
  readonly way: string
  readonly url: string
  readonly code: string
  readonly connects: number
}

const rows: Row[] = []

/** Tries a fetch that must be refused; notes its code, and the sockets beyond those of hops that are allowed. */
async function refused(way: string, shown: string, fetch: () => Promise<unknown>, hops = 0): Promise<Row> {
  let failure = { code: '', message: '' }
  const count = await connects(async () => (failure = await failureOf(fetch())))
  const row = { way, url: shown, code: failure.code, connects: count - hops }
  rows.push(row)
  return row
}

it('the list holds more than forty ways', () => {
  expect(new Set(DISGUISES.map(([name]) => name)).size).toBe(DISGUISES.length)
  expect(DISGUISES.length).toBeGreaterThanOrEqual(40)
})

describe('an address that is not public is refused before a connect', () => {
  it.each(DISGUISES)('as a literal: %s', async (name) => {
    const { port } = await page('secret')
    const url = `http://${name}:${port}/`
    expect(await refused('literal', `http://${name}/`, () => provider().fetch({ url }))).toMatchObject({
      code: 'WEB_BLOCKED_URL',
      connects: 0,
    })
  })

  it.each(DISGUISES)('behind a name that resolves to it: %s', async (name, address) => {
    const { port } = await page('secret')
    const url = `http://intranet.test:${port}/`
    const fetch = () => provider({ lookup: async () => [address] }).fetch({ url })
    expect(await refused('name', `intranet.test → ${name}`, fetch)).toMatchObject({ code: 'WEB_BLOCKED_URL', connects: 0 })
  })

  it.each(DISGUISES)('as the target of a redirect: %s', async (name) => {
    const inside = await page('secret')
    // A header holds bytes: what is not ASCII in a name comes percent-encoded.
    const location = `http://${name}:${inside.port}/`.replaceAll(/[^ -~]+/g, encodeURIComponent)
    const outside = await site((_request, response) => response.writeHead(302, { location }).end(), OUTSIDE)
    const fetch = () => provider().fetch({ url: outside.origin })
    const row = await refused('redirect', `→ http://${name}/`, fetch, 1)
    expect(row).toMatchObject({ code: 'WEB_REDIRECT_BLOCKED', connects: 0 })
    expect(inside.requests).toHaveLength(0)
  })

  it.each(DISGUISES)('behind a name that is bound anew between two hops: %s', async (name, address) => {
    const outside = await site((_request, response) => response.writeHead(302, { location: '/again' }).end(), OUTSIDE)
    const answers = [[OUTSIDE], [address]]
    const url = `http://rebind.test:${outside.port}/`
    const fetch = () => provider({ lookup: async () => answers.shift() ?? [] }).fetch({ url })
    const row = await refused('rebinding', `rebind.test → ${OUTSIDE}, ${name}`, fetch, 1)
    expect(row).toMatchObject({ code: 'WEB_BLOCKED_URL', connects: 0 })
    expect(outside.requests).toHaveLength(1)
  })

  it('all of it, as a table', async () => {
    const table = rows.map(({ way, url, code, connects: count }) => `${way} | ${url} | ${code} | ${count}`)
    expect(table).toHaveLength(DISGUISES.length * 4)
    await expect(`how | what | code | connects\n${table.join('\n')}\n`).toMatchFileSnapshot('ssrf.golden.txt')
  })
})

describe('a name', () => {
  it('is refused when one of its addresses is not public, first or last', async () => {
    for (const addresses of [
      ['8.8.8.8', '10.0.0.1'],
      ['::1', '8.8.8.8'],
    ]) {
      const fetch = provider({ lookup: async () => addresses })
      expect(await connects(() => failureOf(fetch.fetch({ url: 'http://mixed.test/' })))).toBe(0)
      expect((await failureOf(fetch.fetch({ url: 'http://mixed.test/' }))).code).toBe('WEB_BLOCKED_URL')
    }
  })

  it('is asked for once, and the connection goes where the answer said', async () => {
    const { port, requests } = await site((_request, response) => response.end('a page'), OUTSIDE)
    const asked: string[] = []
    const lookup = async (name: string) => (asked.push(name), asked.length === 1 ? [OUTSIDE] : ['127.0.0.1'])
    const found = await provider({ lookup }).fetch({ url: `http://rebind.test:${port}/` })
    expect(found).toMatchObject({ status: 200, text: 'a page' })
    expect(asked).toEqual(['rebind.test'])
    expect(requests.map(({ headers }) => headers.host)).toEqual([`rebind.test:${port}`])
  })

  it('that is not known, or has no address, is an error that names it', async () => {
    const unknown = provider({ lookup: () => Promise.reject(new Error('ENOTFOUND')) })
    expect(await failureOf(unknown.fetch({ url: 'http://no.test/' }))).toEqual({
      code: 'WEB_PROVIDER_ERROR',
      message: '"no.test" has no address: ENOTFOUND',
    })
    const none = provider({ lookup: async () => [] })
    expect(await failureOf(none.fetch({ url: 'http://no.test/' }))).toEqual({
      code: 'WEB_PROVIDER_ERROR',
      message: '"no.test" has no address',
    })
  })

  it('localhost is refused with the resolver of the system', async () => {
    const fetch = httpFetch({ allowPrivateNetwork: false })
    for (const name of ['localhost', 'LOCALHOST']) {
      expect(await connects(() => failureOf(fetch.fetch({ url: `http://${name}/` })))).toBe(0)
      expect((await failureOf(fetch.fetch({ url: `http://${name}/` }))).message).toMatch(
        /stands for (?:127\.0\.0\.1|::1), which is not a public address$/,
      )
    }
  })
})

describe('the rule', () => {
  it.each(PUBLIC)('lets %s pass', (address) => expect(isPublic(address)).toBe(true))

  it.each(['', 'localhost', 'fe80::1%eth0', '1.2.3.4.5', '::1%lo'])('refuses what is no public address: %j', (text) =>
    expect(isPublic(text)).toBe(false),
  )

  it('refuses what an independent table calls private', () => {
    const v4 = listOf('ipv4', ['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '224.0.0.0/3'])
    const v6 = listOf('ipv6', ['::/3', '4000::/2', '8000::/1', '2002::/16', '2001:db8::/32'])
    const isPrivate = (address: string): boolean => (isIPv6(address) ? v6.check(address, 'ipv6') : v4.check(address))
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
        fc.pre(isPrivate(address))
        expect(isPublic(address)).toBe(false)
      }),
      { numRuns: 1_000 },
    )
  })
})

function listOf(family: 'ipv4' | 'ipv6', ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const [net = '', prefix] of ranges.map((range) => range.split('/'))) list.addSubnet(net, Number(prefix), family)
  return list
}

describe('by the plugin', () => {
  it('the model is told why', async () => {
    const { read } = await host({ fetch: {} })
    expect(await read('http://0x7f.1/')).toBe('Error: 127.0.0.1 is not a public address')
    expect(await read('http://[::ffff:7f00:1]/')).toBe('Error: ::ffff:7f00:1 is not a public address')
    expect(await read('http://localhost/')).toMatch(/^Error: "localhost" stands for \S+, which is not a public address$/)
  })

  it('a private address is fetched when the config allows it', async () => {
    const { origin } = await page('inside')
    const { call } = await host({ fetch: { allowPrivateNetwork: true } })
    const result = await call('web_fetch', { url: origin })
    expect([codeOf(result), said(result)]).toEqual(['success', `Fetched ${origin}/ (HTTP 200)\n\ninside`])
  })
})
