import * as http from 'node:http'
import * as https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'

export interface ExchangeOptions {
  readonly method?: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Where to connect, in place of what a resolver says. */
  readonly addresses?: readonly string[]
  readonly signal: AbortSignal
}

/**
 * One request on a connection of its own, which goes when the answer is read, destroyed, or the signal aborts. No redirect is
 * followed, no proxy asked, and there is no timeout but the signal.
 *
 * @returns the answer, once its headers are there.
 */
export function exchange(url: URL, { method = 'GET', headers, body, addresses, signal }: ExchangeOptions): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { request } = url.protocol === 'https:' ? https : http
    const lookup = addresses === undefined ? {} : { lookup: pinned(addresses) }
    request(url, { method, headers: { ...headers, 'user-agent': 'loopguard' }, signal, agent: false, ...lookup })
      // Stays for good: what goes wrong after the answer has come is the answer's to report, and is said here as well.
      .on('error', reject)
      .on('response', (response) => resolve(response.on('error', () => {})))
      .end(body)
  })
}

/** Answers with the addresses that were checked, however it is asked. */
function pinned(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, options, callback) => {
    if (options.all === true) return callback(null, all)
    const [first] = all as [(typeof all)[number]]
    callback(null, first.address, first.family)
  }
}
