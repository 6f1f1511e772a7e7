import type { IncomingMessage } from 'node:http'
import { codeOf, HarnessError, messageOf } from '@loopguard/kit'
import type { FetchedPage, FetchProvider, WebConnect } from '../types.ts'
import { bounded } from './abort.ts'
import { isPublic } from './address.ts'
import { ACCEPT_ENCODING } from './body.ts'
import { exchange } from './exchange.ts'
import { pageOf } from './page.ts'
import { addressesOf, type Lookup, systemLookup } from './resolve.ts'
import { checkedUrl, isSameSite, shownUrl } from './url.ts'

const MAX_REDIRECTS = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])

const HEADERS = {
  accept: 'text/html, application/xhtml+xml, application/json;q=0.9, text/*;q=0.9, application/xml;q=0.8, */*;q=0.1',
  'accept-encoding': ACCEPT_ENCODING,
}

export interface HttpFetchOptions {
  readonly allowPrivateNetwork: boolean
  /** Is told of each connection before it is made; a throw refuses it. */
  readonly onConnect?: (event: WebConnect) => void
  /** In place of the resolver of the system. */
  readonly lookup?: Lookup
  /** In place of the rule for public addresses. */
  readonly isPublic?: (address: string) => boolean
}

/** The provider `http`: fetches over http and https, public addresses only unless it is told otherwise. */
export function httpFetch(options: HttpFetchOptions): FetchProvider {
  return {
    id: 'http',
    available: () => true,
    fetch: ({ url }, signal) => bounded(signal, (own) => follow(checkedUrl(url), options, own)),
  }
}

/** Follows redirects within the site, and judges each URL anew. */
async function follow(start: URL, options: HttpFetchOptions, signal: AbortSignal): Promise<FetchedPage> {
  for (let url = start, redirects = 0; ; redirects++) {
    const next = await visit(url, options, signal)
    if (!(next instanceof URL)) return next
    if (!isSameSite(url, next)) {
      throw new HarnessError(`${shownUrl(url)} redirects to another site, ${shownUrl(next)}`, 'WEB_REDIRECT_BLOCKED')
    }
    if (redirects === MAX_REDIRECTS) {
      throw new HarnessError(`${shownUrl(start)} redirects more than ${MAX_REDIRECTS} times`, 'WEB_TOO_MANY_REDIRECTS')
    }
    url = next
  }
}

/** What is found at a URL: a page, or another URL. */
async function visit(url: URL, options: HttpFetchOptions, signal: AbortSignal): Promise<FetchedPage | URL> {
  const { allowPrivateNetwork, onConnect, lookup = systemLookup, isPublic: rule = isPublic } = options
  let response: IncomingMessage | undefined
  try {
    const addresses = await addressesOf(url, lookup, (address) => allowPrivateNetwork || rule(address), signal)
    onConnect?.({ url: url.href, addresses, allowPrivateNetwork })
    response = await exchange(url, { headers: HEADERS, addresses, signal })
    const target = REDIRECTS.has(response.statusCode ?? 0) ? response.headers.location : undefined
    return target === undefined ? await pageOf(url, response, signal) : checkedUrl(target, url)
  } catch (thrown) {
    signal.throwIfAborted()
    if (codeOf(thrown)?.startsWith('WEB_') === true) throw thrown
    // Where several addresses were tried, the error has no message of its own.
    const why = messageOf(thrown) || codeOf(thrown)
    throw new HarnessError(`${shownUrl(url)} could not be fetched: ${why}`, 'WEB_PROVIDER_ERROR', { cause: thrown })
  } finally {
    response?.destroy()
  }
}
