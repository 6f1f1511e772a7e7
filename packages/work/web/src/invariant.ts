import { BlockList, isIPv6 } from 'node:net'
import { companion, type Companion, onDispatch } from '@loopguard/invariants/companion'
import type { WebConnect } from './types.ts'

const plugin: Companion = companion({
  name: 'web-invariant',
  packageName: '@loopguard/web',
  install(ctx, fail) {
    onDispatch(ctx, {
      'web/connect': (args) => {
        const [{ url, addresses, allowPrivateNetwork }] = args as [WebConnect]
        if (allowPrivateNetwork) return
        const refused = addresses.find(isPrivate)
        if (refused !== undefined) fail(`it is about to connect to ${refused}, which is not public, for ${url}`)
      },
    })
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Checks each address that `http-fetch` is about to connect to, with tables of its own. A violation refuses the connection. */
export const apply: Companion['apply'] = plugin.apply

const PRIVATE = blockList([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
])
const GLOBAL = blockList(['2000::/3'])

function isPrivate(address: string): boolean {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4'
  return PRIVATE.check(address, family) || (family === 'ipv6' && !GLOBAL.check(address, family))
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [net = '', prefix] = range.split('/')
    list.addSubnet(net, Number(prefix), isIPv6(net) ? 'ipv6' : 'ipv4')
  }
  return list
}
