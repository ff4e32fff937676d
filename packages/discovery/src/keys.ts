/**
 * The indexes of live advertisements, which a spent one leaves, and the records of an operator about hosts: bans and the
 * results of health checks.
 */
import { sha256 } from '@quoin/chain'
import { outpoint } from '@quoin/chain/components'
import { alphabet, collection, hash, hex, json, keyspace, word } from '@quoin/keyspace'
import { fromHex } from '@quoin/primitives'
import { event, events, unspent } from '@quoin/txo'
import { type Advertisement, PROTOCOLS, type Protocol } from './advertisement.ts'
import { PROVED } from './proved.ts'
import { canonicalUri, siteOf } from './uri.ts'

const protocol = word('protocol', ...PROTOCOLS)
const digest = hex('digest', { length: 32 })

export const discoveryEvents = events(
  'discovery',
  {
    service: unspent(
      event(
        'ad:name',
        'Advertisements by the name of a topic or lookup service.',
        protocol,
        alphabet('name', 'abcdefghijklmnopqrstuvwxyz_', { min: 1, max: 50 })
      )
    ),
    domain: unspent(
      event('ad:domain', 'Advertisements by the SHA-256 of the URI of the host.', protocol, digest)
    ),
    site: unspent(
      event('ad:site', 'Advertisements by the SHA-256 of host and port, for bans and health checks.', digest)
    ),
    host: unspent(
      event(
        'ad:host',
        'Advertisements by the identity key of the host.',
        protocol,
        hex('identityKey', { length: 33 })
      )
    ),
    record: unspent(
      event('ad:record', 'Advertisements of one host, URI and name: the newest counts.', digest)
    )
  },
  { proved: PROVED }
)

/** A ban of an operator. */
export interface Ban {
  readonly type: 'domain' | 'outpoint'
  /** Host and port, or `txid.vout`. */
  readonly value: string
  readonly reason?: string
  /** Unix seconds. */
  readonly at: number
}

/** The results of the health checks of one host. */
export interface HostRecord {
  readonly site: string
  /** Consecutive checks that failed. */
  readonly failures: number
  /** Times are unix seconds. */
  readonly checkedAt: number
  readonly answeredAt?: number
  /** Why the last check failed. */
  readonly reason?: string
}

export const banFields = keyspace(
  'ban-fields',
  {
    site: collection({
      key: ['site:', digest],
      value: json<Ban>(),
      about: 'A banned host, by the SHA-256 of host and port.'
    }),
    advertisement: collection({
      key: ['ad:', outpoint('outpoint')],
      value: json<Ban>(),
      about: 'A banned advertisement.'
    })
  },
  { about: 'Fields of `h:ad:bans`.', proved: PROVED }
)

export const hostFields = keyspace(
  'host-fields',
  {
    record: collection({
      key: [digest],
      value: json<HostRecord>(),
      about: 'The health of a host, by the SHA-256 of host and port.'
    })
  },
  { about: 'Fields of `h:ad:hosts`.', proved: PROVED }
)

export const discoveryKeys = keyspace(
  'discovery',
  {
    bans: collection({
      key: ['h:ad:bans'],
      value: hash(banFields),
      about: 'Hosts and advertisements that the operator leaves out of answers.'
    }),
    hosts: collection({
      key: ['h:ad:hosts'],
      value: hash(hostFields),
      about: 'The results of health checks of advertised hosts.'
    })
  },
  { about: 'Records of an operator about advertised hosts.', proved: PROVED }
)

const { service, domain, site, host, record } = discoveryEvents.types

const digestOf = (text: string): Uint8Array => sha256(Buffer.from(text))

/** The key of a host in the records of bans and checks. */
export const siteDigest = (name: string): Uint8Array => digestOf(name)

/** Event texts by selector. */
export const eventOf = {
  name: (kind: Protocol, name: string): string => service.text(kind, name),
  domain: (kind: Protocol, uri: string): string => domain.text(kind, digestOf(canonicalUri(uri) ?? uri)),
  host: (kind: Protocol, identityKey: string): string => host.text(kind, fromHex(identityKey))
}

export const eventsOf = (advertisement: Advertisement): string[] => {
  const { protocol: kind, identityKey, domain: uri, name } = advertisement
  const same = JSON.stringify([kind, identityKey, canonicalUri(uri), name])
  return [
    eventOf.name(kind, name),
    eventOf.domain(kind, uri),
    site.text(siteDigest(siteOf(uri)!)),
    eventOf.host(kind, identityKey),
    record.text(digestOf(same))
  ]
}

/** The event that names host, URI and name, among all events of an advertisement. */
export const recordOf = (all: readonly string[]): string | undefined =>
  all.find(text => text.startsWith(`${record.prefix}:`))

/** The digest of host and port, among all events of an advertisement. */
export const siteIn = (all: readonly string[]): Uint8Array | undefined => {
  const text = all.find(each => each.startsWith(`${site.prefix}:`))
  return text === undefined ? undefined : fromHex(text.slice(site.prefix.length + 1))
}
