import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { HarnessError, messageOf, show } from '@loopguard/kit'
import { unlessAborted } from './abort.ts'
import { blocked } from './url.ts'

/** Asks for the addresses of a name, in the order in which they should be tried. */
export type Lookup = (hostname: string) => Promise<readonly string[]>

/** The resolver of the system, hosts file included. What it has begun cannot be called back. */
export const systemLookup: Lookup = async (hostname) => (await lookup(hostname, { all: true })).map(({ address }) => address)

/**
 * The addresses that a connection for this URL may go to. The connection is given these and asks no resolver again, so a name that
 * stands for another address a moment later changes nothing.
 *
 * @param allows - judges one address. If it refuses one of several, none is used.
 * @throws HarnessError `WEB_BLOCKED_URL` for an address that is refused, `WEB_PROVIDER_ERROR` for a name that is not known.
 */
export async function addressesOf(
  { hostname }: URL,
  lookupName: Lookup,
  allows: (address: string) => boolean,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const isLiteral = isIP(host) !== 0
  const addresses = isLiteral ? [host] : await unlessAborted(known(host, lookupName), signal)
  const refused = addresses.find((address) => !allows(address))
  if (refused === undefined) return addresses
  throw blocked(isLiteral ? `${host} is not a public address` : `${show(host)} stands for ${refused}, which is not a public address`)
}

async function known(host: string, lookupName: Lookup): Promise<readonly string[]> {
  let addresses
  try {
    addresses = await lookupName(host)
  } catch (thrown) {
    throw new HarnessError(`${show(host)} has no address: ${messageOf(thrown)}`, 'WEB_PROVIDER_ERROR', { cause: thrown })
  }
  if (addresses.length === 0) throw new HarnessError(`${show(host)} has no address`, 'WEB_PROVIDER_ERROR')
  return addresses
}
