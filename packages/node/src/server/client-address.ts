/**
 * The client of a request. `x-forwarded-for` is believed only from the addresses that `trustProxy` names, from the socket
 * backwards: the first address that is no trusted proxy is the client. A stranger can write the header, but not move the
 * addresses that trusted proxies add after it.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { memoize } from '@quoin/primitives'

export interface Client {
  readonly address: string
  /** Whether a process of this machine asked without a proxy between: the socket's address, and no forwarding header. */
  readonly isLocal: boolean
  /** Whether this machine or a trusted proxy sent the request, whose other headers may be believed. */
  readonly isTrusted: boolean
  /** The address of a proxy near by that `trustProxy` does not name. Its clients count as one. */
  readonly untrustedProxy: string | undefined
}

const LOOPBACK = ['127.0.0.0/8', '::1/128']
/** Addresses by name, for proxies whose addresses an operator does not choose. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: LOOPBACK,
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']
}
export const TRUST_PROXY_EXPECTS =
  'a list of loopback, private, addresses and subnets, for example loopback,10.1.0.0/16'

/** Headers that proxies and content networks add. */
const FORWARDING = [
  'x-forwarded-for',
  'forwarded',
  'via',
  'x-real-ip',
  'x-forwarded-host',
  'x-forwarded-proto'
]

export class ClientAddresses {
  readonly #isTrusted: (address: string) => boolean

  /** Throws a `TypeError` for a text that `isTrustedProxy` refuses. */
  constructor(trusted: readonly string[]) {
    this.#isTrusted = subnets(trusted)
  }

  of({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): Client {
    const peer = plain(socket.remoteAddress ?? '')
    const isForwarded = FORWARDING.some(name => headers[name] !== undefined)
    const isLocal = isHere(peer) && !isForwarded
    if (this.#isTrusted(peer)) {
      return { address: this.#behind(peer, headers), isLocal, isTrusted: true, untrustedProxy: undefined }
    }
    const isNear = isHere(peer) || isPrivate(peer)
    return {
      address: peer,
      isLocal,
      isTrusted: isLocal,
      untrustedProxy: isForwarded && isNear ? peer : undefined
    }
  }

  /** The client before a trusted proxy; the proxy itself where it names none. */
  #behind(peer: string, headers: IncomingHttpHeaders): string {
    let client = peer
    for (const text of String(headers['x-forwarded-for'] ?? '')
      .split(',')
      .toReversed()) {
      const address = withoutPort(text.trim())
      // A proxy does not write a text that is no address: the part before it is the stranger's.
      if (isIP(address) === 0) return client
      client = plain(address)
      if (!this.#isTrusted(client)) return client
    }
    return client
  }
}

/** Whether a text can stand in `trustProxy`. */
export const isTrustedProxy = (text: string): boolean =>
  Object.hasOwn(NAMED, text) || subnetOf(text) !== undefined

interface Subnet {
  readonly address: string
  readonly bits: number
  readonly family: 'ipv4' | 'ipv6'
}

const subnetOf = (text: string): Subnet | undefined => {
  const [address = '', bits, more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more !== undefined) return undefined
  const width = version === 4 ? 32 : 128
  if (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > width)) return undefined
  return { address, bits: Number(bits ?? width), family: version === 4 ? 'ipv4' : 'ipv6' }
}

const subnets = (texts: readonly string[]): ((address: string) => boolean) => {
  const list = new BlockList()
  for (const text of texts.flatMap(each => NAMED[each] ?? [each])) {
    const subnet = subnetOf(text)
    if (!subnet) throw new TypeError(`${text} is no address or subnet; expected ${TRUST_PROXY_EXPECTS}`)
    list.addSubnet(subnet.address, subnet.bits, subnet.family)
  }
  return checked(list)
}

/** Addresses whose subnets are memoized: a check of a list costs as much as the routing of a request. */
const MEMOIZED = 10_000

const checked = (list: BlockList): ((address: string) => boolean) =>
  memoize(MEMOIZED, address => {
    const version = isIP(address)
    return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6')
  })

const isHere = subnets(LOOPBACK)
const isPrivate = subnets(['private'])

/** An address of IPv4 within IPv6, as sockets for both have it. */
const plain = (address: string): string => {
  const [, v4] = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address) ?? []
  return v4 ?? address.replace(/%.*$/, '')
}

/** `1.2.3.4:567`, `[2001:db8::1]:567` and `[2001:db8::1]`, as some proxies write them. */
const withoutPort = (text: string): string => {
  const [, bracketed] = /^\[([^\]]+)\](?::\d+)?$/.exec(text) ?? []
  const [, v4] = /^(\d{1,3}(?:\.\d{1,3}){3}):\d+$/.exec(text) ?? []
  return bracketed ?? v4 ?? text
}
