/** The indexes of live advertisements. A spent advertisement leaves them. */
import { sha256 } from '@quoin/chain'
import { alphabet, hex, word } from '@quoin/keyspace'
import { fromHex } from '@quoin/primitives'
import { event, events, unspent } from '@quoin/txo'
import { type Advertisement, PROTOCOLS, type Protocol } from './advertisement.ts'
import { PROVED } from './proved.ts'

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

const { service, domain, host, record } = discoveryEvents.types

/** Event texts by selector. */
export const eventOf = {
  name: (kind: Protocol, name: string): string => service.text(kind, name),
  domain: (kind: Protocol, uri: string): string => domain.text(kind, sha256(Buffer.from(uri))),
  host: (kind: Protocol, identityKey: string): string => host.text(kind, fromHex(identityKey))
}

export const eventsOf = (advertisement: Advertisement): string[] => {
  const { protocol: kind, identityKey, domain: uri, name } = advertisement
  return [
    eventOf.name(kind, name),
    eventOf.domain(kind, uri),
    eventOf.host(kind, identityKey),
    record.text(sha256(Buffer.from(JSON.stringify([kind, identityKey, uri, name]))))
  ]
}

/** The event that names host, URI and name, among all events of an advertisement. */
export const recordOf = (all: readonly string[]): string | undefined =>
  all.find(text => text.startsWith(`${record.prefix}:`))
