/**
 * Addresses of the public internet. The addresses of hosts come from strangers: a request to one of them must not reach this
 * machine, its network, or the metadata service of its provider.
 */
import { BlockList, isIP } from 'node:net'

/** Ranges that are not global (IANA special-purpose registries, RFC 6890), and multicast. */
const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4'
]
/** Global unicast is 2000::/3; within it, ranges for protocols and documentation, and the 6to4 range, which embeds an IPv4 address. */
const GLOBAL_V6 = '2000::/3'
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const listOf = (family: 'ipv4' | 'ipv6', ranges: readonly string[]): BlockList => {
  const list = new BlockList()
  for (const range of ranges) {
    const [address, bits] = range.split('/') as [string, string]
    list.addSubnet(address, Number(bits), family)
  }
  return list
}

const special4 = listOf('ipv4', SPECIAL_V4)
const special6 = listOf('ipv6', SPECIAL_V6)
const global6 = listOf('ipv6', [GLOBAL_V6])

/**
 * Whether an IP address is of the public internet.
 *
 * @example
 * isPublicAddress('93.184.216.34') // true
 * isPublicAddress('169.254.169.254') // false
 * isPublicAddress('::ffff:127.0.0.1') // false
 */
export const isPublicAddress = (address: string): boolean => {
  const family = isIP(address)
  if (family === 4) return !special4.check(address, 'ipv4')
  return family === 6 && global6.check(address, 'ipv6') && !special6.check(address, 'ipv6')
}
