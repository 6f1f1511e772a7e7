import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { httpFetch } from '../src/http/fetch.ts'
import { codeOf, connects, failureOf, host, page, said, site } from './host.ts'

const inside = httpFetch({ allowPrivateNetwork: true })
const MB = 1024 * 1024

describe('a URL is refused, before a connect, that', () => {
  const long = `http://127.0.0.1/${'a'.repeat(10_000)}`
  it.each([
    ['is 10,000 characters long', long, `the URL is ${long.length} characters long, the most is 2048`],
    ['is too long once it is encoded', `http://127.0.0.1/${'é'.repeat(1_000)}`, 'the URL is 6017 characters long, the most is 2048'],
    ['names a file', 'file:///etc/passwd', 'only http and https are fetched, not "file:"'],
    ['is data', 'data:text/plain,hi', 'only http and https are fetched, not "data:"'],
    ['speaks ftp', 'ftp://example.com/', 'only http and https are fetched, not "ftp:"'],
    ['is a script', 'javascript:alert(1)', 'only http and https are fetched, not "javascript:"'],
    ['holds a user', 'http://me@127.0.0.1/', 'the URL for "127.0.0.1" holds credentials: leave them out'],
    ['holds a password', 'http://:secret@127.0.0.1/', 'the URL for "127.0.0.1" holds credentials: leave them out'],
    ['is relative', '/etc/passwd', '"/etc/passwd" is not an absolute URL'],
    ['has no host', 'http://', '"http://" is not an absolute URL'],
    ['names a zone', 'http://[fe80::1%25eth0]/', '"http://[fe80::1%25eth0]/" is not an absolute URL'],
    ['is no URL', 'what?', '"what?" is not an absolute URL'],
    ['is empty', '', '"" is not an absolute URL'],
    ['is no text', 5 as never, 'the URL must be text, got 5'],
  ])('%s', async (_what, url, message) => {
    let failure
    expect(await connects(async () => (failure = await failureOf(inside.fetch({ url }))))).toBe(0)
    expect(failure).toEqual({ code: 'WEB_BLOCKED_URL', message })
  })
})

describe('a redirect', () => {
  const hops = (count: number) =>
    site((request, response) => {
      const hop = Number(request.url?.slice(1) || 0)
      if (hop < count) response.writeHead(302, { location: `/${hop + 1}` }).end()
      else response.end('there')
    })

  it.each([301, 302, 303, 307, 308])('of status %i is followed within the origin', async (status) => {
    const { origin } = await site((request, response) => {
      if (request.url === '/') response.writeHead(status, { location: 'there?' }).end('moved')
      else response.end('found')
    })
    expect(await inside.fetch({ url: origin })).toEqual({ url: `${origin}/there?`, status: 200, contentType: '', text: 'found' })
  })

  it('is followed five times, and not a sixth', async () => {
    const five = await hops(5)
    expect(await inside.fetch({ url: five.origin })).toMatchObject({ url: `${five.origin}/5`, text: 'there' })
    const six = await hops(6)
    expect(await failureOf(inside.fetch({ url: six.origin }))).toEqual({
      code: 'WEB_TOO_MANY_REDIRECTS',
      message: `${six.origin}/ redirects more than 5 times`,
    })
    expect(six.requests).toHaveLength(6)
  })

  it('to itself ends as well', async () => {
    const { origin } = await site((_request, response) => response.writeHead(301, { location: '' }).end())
    expect((await failureOf(inside.fetch({ url: origin }))).code).toBe('WEB_TOO_MANY_REDIRECTS')
  })

  it('to another site is named, and not followed', async () => {
    const other = await page('other')
    const { origin } = await site((_request, response) => response.writeHead(302, { location: `${other.origin}/x` }).end())
    expect(await failureOf(inside.fetch({ url: origin }))).toEqual({
      code: 'WEB_REDIRECT_BLOCKED',
      message: `${origin}/ redirects to another site, ${other.origin}/x`,
    })
    expect(other.requests).toHaveLength(0)
  })

  it.each([
    ['http://a.test/', 'https://a.test/', true],
    ['http://a.test/x', 'https://a.test/y', true],
    ['https://a.test/', 'http://a.test/', false],
    ['http://a.test:8080/', 'https://a.test/', false],
    ['http://a.test/', 'https://a.test:8443/', false],
    ['http://a.test/', 'https://b.test/', false],
    ['http://a.test/', 'https://www.a.test/', false],
    ['http://a.test/', 'http://a.test:80/', true],
    ['http://A.test/', 'http://a.test/', true],
  ])('from %s to %s is the same site: %j', async (from, to, same) => {
    const { isSameSite } = await import('../src/http/url.ts')
    expect(isSameSite(new URL(from), new URL(to))).toBe(same)
  })

  it.each([
    ['a file', 'file:///etc/passwd', 'only http and https are fetched, not "file:"'],
    ['credentials', '//me:secret@127.0.0.1/', 'the URL for "127.0.0.1" holds credentials: leave them out'],
    ['what is too long', `/${'a'.repeat(3_000)}`, 'characters long, the most is 2048'],
    ['no URL', 'http://', '"http://" is not an absolute URL'],
  ])('to %s is refused', async (_what, location, message) => {
    const { origin } = await site((_request, response) => response.writeHead(302, { location }).end())
    const failure = await failureOf(inside.fetch({ url: origin }))
    expect(failure.code).toBe('WEB_BLOCKED_URL')
    expect(failure.message).toContain(message)
  })

  it('without a location is a page', async () => {
    const { origin } = await page('lost', { 'content-type': 'text/plain' }, 302)
    expect(await inside.fetch({ url: origin })).toMatchObject({ status: 302, text: 'lost' })
  })
})

describe('an answer', () => {
  it.each([
    ['404', 404, 'not here'],
    ['500', 500, 'broken'],
    ['200', 200, 'fine'],
  ])('of status %s is a result', async (_name, status, body) => {
    const { origin } = await page(body, { 'content-type': 'text/plain' }, status)
    const { call } = await host()
    const result = await call('web_fetch', { url: `${origin}/x` })
    expect([codeOf(result), said(result)]).toEqual(['success', `Fetched ${origin}/x (HTTP ${status})\n\n${body}`])
  })

  it.each([304, 204])('of status %i has no body, whatever its type', async (status) => {
    const { origin } = await page('', { 'content-type': 'image/png' }, status)
    const { read } = await host()
    expect(await read(origin)).toBe(`Fetched ${origin}/ (HTTP ${status})\n\n(no content)`)
  })

  it.each([
    ['text/plain', 'a < b'],
    ['text/csv; charset=utf-8', 'a;b'],
    ['application/json', '{"a":1}'],
    ['application/problem+json', '{"a":1}'],
    ['application/x-ndjson', '{}\n{}'],
    ['application/xml', '<a/>'],
    ['image/svg+xml', '<svg/>'],
    ['TEXT/PLAIN', 'loud'],
  ])('of type %s comes as it is', async (type, body) => {
    const { origin } = await page(body, { 'content-type': type })
    expect(await inside.fetch({ url: origin })).toEqual({ url: `${origin}/`, status: 200, contentType: type, text: body })
  })

  it.each(['image/png', 'application/pdf', 'application/octet-stream', 'video/mp4', 'application/zip', 'textual/plain'])(
    'of type %s is refused',
    async (type) => {
      const { origin } = await page('x', { 'content-type': type })
      expect(await failureOf(inside.fetch({ url: origin }))).toEqual({
        code: 'WEB_UNSUPPORTED_TYPE',
        message: `the answer (HTTP 200) is "${type}"; text, JSON, XML and HTML can be read`,
      })
    },
  )

  it('of no type is text or HTML by its first bytes, and refused when it is neither', async () => {
    const [text, html, binary] = await Promise.all([
      page('plain', {}),
      page('  <!DOCTYPE html><p>a <b>b</b>', {}),
      page(Buffer.from([1, 0, 2]), {}),
    ])
    expect((await inside.fetch({ url: text.origin })).text).toBe('plain')
    expect((await inside.fetch({ url: html.origin })).text).toBe('a **b**')
    expect(await failureOf(inside.fetch({ url: binary.origin }))).toEqual({
      code: 'WEB_UNSUPPORTED_TYPE',
      message: 'the answer (HTTP 200) is of no type, and is not text; text, JSON, XML and HTML can be read',
    })
  })

  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['identity', (bytes: Buffer) => bytes],
  ])('is decoded from %s', async (encoding, encode) => {
    const { origin } = await page(encode(Buffer.from('packed')), { 'content-type': 'text/plain', 'content-encoding': encoding })
    expect((await inside.fetch({ url: origin })).text).toBe('packed')
  })

  it('in an encoding that is not known is refused; one that is broken is an error', async () => {
    const odd = await page('x', { 'content-type': 'text/plain', 'content-encoding': 'zip' })
    expect(await failureOf(inside.fetch({ url: odd.origin }))).toEqual({
      code: 'WEB_UNSUPPORTED_TYPE',
      message: 'the answer is encoded as "zip"',
    })
    const broken = await page('no gzip', { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
    expect(await failureOf(inside.fetch({ url: broken.origin }))).toEqual({
      code: 'WEB_PROVIDER_ERROR',
      message: `${broken.origin}/ could not be fetched: incorrect header check`,
    })
  })

  it('that ends too early is an error', async () => {
    const { origin } = await site((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' })
      response.write('half', () => response.destroy())
    })
    expect(await failureOf(inside.fetch({ url: origin }))).toMatchObject({
      code: 'WEB_PROVIDER_ERROR',
      message: expect.stringContaining('could not be fetched: '),
    })
  })

  it('that never comes, since nothing listens, is an error that says so', async () => {
    const gone = await site(() => {})
    await new Promise((resolve) => gone.server.close(resolve))
    expect(await failureOf(inside.fetch({ url: gone.origin }))).toEqual({
      code: 'WEB_PROVIDER_ERROR',
      message: `${gone.origin}/ could not be fetched: connect ECONNREFUSED 127.0.0.1:${gone.port}`,
    })
    const several = httpFetch({ allowPrivateNetwork: true, lookup: async () => ['127.0.0.1', '127.0.0.2'] })
    expect(await failureOf(several.fetch({ url: `http://two.test:${gone.port}/` }))).toEqual({
      code: 'WEB_PROVIDER_ERROR',
      message: `http://two.test:${gone.port}/ could not be fetched: ECONNREFUSED`,
    })
    gone.server.listen(0)
  })

  it('that is no HTTP is an error', async () => {
    const { origin } = await site((request) => void request.socket.end('hello\r\n\r\n'))
    expect((await failureOf(inside.fetch({ url: origin }))).code).toBe('WEB_PROVIDER_ERROR')
  })
})

describe('a body of more than 5 MB', () => {
  const type = { 'content-type': 'text/plain' }

  it('that says so is refused before it is read', async () => {
    const length = 5 * MB + 1
    const { origin, closed } = await site(
      (_request, response) => void response.writeHead(200, { ...type, 'content-length': length }).write('a'),
    )
    expect(await failureOf(inside.fetch({ url: origin }))).toEqual({
      code: 'WEB_TOO_LARGE',
      message: `the answer is ${length} bytes long, the most is ${5 * MB}`,
    })
    await closed()
  })

  it('that does not end is cut, marked, and the socket shut', async () => {
    const { origin, closed } = await site((_request, response) => {
      response.writeHead(200, type)
      const more = (): void => {
        while (!response.destroyed && response.write('a'.repeat(65_536)));
        response.once('drain', more)
      }
      more()
    })
    const found = await inside.fetch({ url: origin })
    expect([found.text.length, found.truncated]).toEqual([5 * MB, true])
    await closed()
  })

  it('of exactly 5 MB is whole', async () => {
    const { origin } = await page('a'.repeat(5 * MB), type)
    const found = await inside.fetch({ url: origin })
    expect([found.text.length, found.truncated]).toEqual([5 * MB, undefined])
  })

  it('that was packed into little stops at 5 MB', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * MB, 'a'))
    expect(bomb.length).toBeLessThan(MB)
    const { origin } = await page(bomb, { ...type, 'content-encoding': 'gzip' })
    const found = await inside.fetch({ url: origin })
    expect([found.text.length, found.truncated]).toEqual([5 * MB, true])
  })

  it('is cut between characters', async () => {
    const { origin } = await page(`a${'€'.repeat(2 * MB)}`, { ...type, 'transfer-encoding': 'chunked' })
    const { text, truncated } = await inside.fetch({ url: origin })
    expect([text.length, text.at(-1), truncated]).toEqual([Math.floor((5 * MB - 1) / 3) + 1, '€', true])
  })
})

describe('the charset', () => {
  const latin = Buffer.from([0x63, 0x61, 0x66, 0xe9])
  const html = (head: string, tail: Buffer): Buffer => Buffer.concat([Buffer.from(`<!doctype html><html><head>${head}</head><body>`), tail])

  it.each<[string, string, Buffer, string]>([
    ['is that of the header', 'text/plain; charset=iso-8859-1', latin, 'café'],
    ['may be quoted, in any case', 'text/plain; charset="ISO-8859-1"', latin, 'café'],
    ['may be one of many bytes', 'text/plain; charset=shift_jis', Buffer.from([0x93, 0xfa, 0x96, 0x7b]), '日本'],
    ['of a byte order mark goes before that of the header', 'text/plain; charset=iso-8859-1', Buffer.from('\uFEFFcafé'), 'café'],
    ['of a byte order mark may be UTF-16', 'text/plain', Buffer.from('\uFEFFcafé', 'utf16le'), 'café'],
    ['is UTF-8 where none is said', 'text/plain', Buffer.from('café'), 'café'],
    ['is Windows-1252 where none is said and it is no UTF-8', 'text/plain', latin, 'café'],
    ['is that of the meta element', 'text/html', html('<meta charset="iso-8859-2">', Buffer.from([0xb1])), 'ą'],
    [
      'is that of the older meta element',
      'text/html',
      html('<meta http-equiv=content-type content="text/html; charset=koi8-r">', Buffer.from([0xc1])),
      'а',
    ],
    [
      'of the header goes before that of the meta element',
      'text/html; charset=utf-8',
      html('<meta charset="koi8-r">', Buffer.from('é')),
      'é',
    ],
    ['of a document that says it is UTF-16 and is not is UTF-8', 'text/html', html('<meta charset="utf-16">', Buffer.from('é')), 'é'],
    [
      'is that of the XML declaration',
      'application/xml',
      Buffer.concat([Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>'), latin]),
      '<?xml version="1.0" encoding="iso-8859-1"?><a>café',
    ],
    ['that nobody knows does no harm to UTF-8', 'text/plain; charset=klingon', Buffer.from('café'), 'café'],
  ])('%s', async (_what, type, bytes, text) => {
    const { origin } = await page(bytes, { 'content-type': type })
    expect((await inside.fetch({ url: origin })).text).toBe(text)
  })

  it('that nobody knows, of what is no UTF-8, is refused by name', async () => {
    const { origin } = await page(latin, { 'content-type': 'text/plain; charset=klingon' })
    expect(await failureOf(inside.fetch({ url: origin }))).toEqual({
      code: 'WEB_UNSUPPORTED_TYPE',
      message: 'the charset "klingon" is not known',
    })
  })
})

describe('a request', () => {
  it('names its host and itself, asks for what is understood, and sends nothing else', async () => {
    const { origin, port, requests } = await page('x')
    await inside.fetch({ url: `${origin}/a?b=c#d` })
    expect(requests.map(({ method, url }) => [method, url])).toEqual([['GET', '/a?b=c']])
    const { accept, ...headers } = requests[0]!.headers
    expect(accept).toContain('text/html')
    expect(headers).toEqual({
      host: `127.0.0.1:${port}`,
      connection: 'close',
      'accept-encoding': 'gzip, deflate, br',
      'user-agent': 'loopguard',
    })
  })

  it('tries one address after another', async () => {
    const { port } = await page('second')
    const two = httpFetch({ allowPrivateNetwork: true, lookup: async () => ['127.0.0.77', '127.0.0.1'] })
    expect((await two.fetch({ url: `http://two.test:${port}/` })).text).toBe('second')
  })
})
