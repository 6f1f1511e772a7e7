import ipaddr from 'ipaddr.js'

/** A public address that is a door into a private service: the host agent of Azure answers there. */
const METADATA = new Set(['168.63.129.16'])

/**
 * Whether an address is one of the public internet: unicast, of no special range, and for IPv6 within 2000::/3, which leaves out what
 * only wraps an IPv4 address. What is no address is not public.
 */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const ip = ipaddr.parse(address)
  if (ip.range() !== 'unicast') return false
  return ip.kind() === 'ipv4' ? !METADATA.has(ip.toString()) : ((ip.toByteArray()[0] as number) & 0xe0) === 0x20
}
