/**
 * The indexes of live entries. Every selector of a query (BRC-35 §3.5) has a sorted set. So have two pairs of selectors
 * whose members alone may select most of the store: key with controller, and tag with controller. A spent entry leaves
 * all of its sets.
 *
 * Keys and tags are untrusted text. Short ones are escaped; long ones, and combinations, are replaced by their SHA-256.
 */
import { sha256 } from '@quoin/chain'
import { alphabet, escaped, hex, word } from '@quoin/keyspace'
import { isText, type KvContent, type KvTuple, type ProtocolID, tupleText } from '@quoin/kvstore-client/token'
import { fromHex } from '@quoin/primitives'
import { type EventDeclaration, event, events, unspent } from '@quoin/txo'
import { PROVED } from './proved.ts'

const digest = hex('digest', { length: 32 })

export const kvDeclarations = {
  key: unspent(event('key', 'Entries by key.', escaped('key'))),
  longKey: unspent(event('key-sha', 'Entries by the SHA-256 of a long key.', digest)),
  controller: unspent(event('controller', 'Entries by controller.', hex('controller', { length: 33 }))),
  protocol: unspent(
    event(
      'protocol',
      'Entries by protocol: its level and its name.',
      word('level', '0', '1', '2'),
      alphabet('name', 'abcdefghijklmnopqrstuvwxyz0123456789 ', { min: 5, max: 430 })
    )
  ),
  held: unspent(event('held', 'Entries by controller and key, of any protocol.', digest)),
  entry: unspent(
    event('entry', 'Entries by tuple: controller, protocol and key. Several are ambiguous.', digest)
  ),
  tag: unspent(event('tag', 'Entries by tag.', escaped('tag'))),
  longTag: unspent(event('tag-sha', 'Entries by the SHA-256 of a long tag.', digest)),
  tagged: unspent(event('tagged', 'Entries by controller and tag.', digest))
} as const

const PREFIX = 'kv'

/** The events with the prefix that the plug-in `kv` registers them under: `kv:key:…`. */
export const kvEvents = events(
  PREFIX,
  Object.fromEntries(
    Object.entries<EventDeclaration>(kvDeclarations).map(([name, each]) => [
      name,
      { ...each, prefix: `${PREFIX}:${each.prefix}` }
    ])
  ) as unknown as typeof kvDeclarations,
  { proved: PROVED }
)

/** Texts with more UTF-8 bytes are indexed by their SHA-256. */
const MAX_PLAIN_BYTES = 128

const encoder = new TextEncoder()
const { key, longKey, controller, protocol, held, entry, tag, longTag, tagged } = kvEvents.types

/** No text in UTF-8 has this byte. */
const NOT_UTF8 = 0xff

/** The JSON of tags can have lone surrogates, which UTF-8 has not: those texts are hashed in UTF-16. */
const digestOf = (text: string): Uint8Array =>
  sha256(
    isText(text)
      ? encoder.encode(text)
      : Buffer.concat([Uint8Array.of(NOT_UTF8), Buffer.from(text, 'utf16le')])
  )

const isShort = (text: string): boolean => isText(text) && encoder.encode(text).length <= MAX_PLAIN_BYTES

/** Event texts by selector. */
export const eventOf = {
  key: (text: string): string => (isShort(text) ? key.text(text) : longKey.text(digestOf(text))),
  controller: (publicKey: string): string => controller.text(fromHex(publicKey)),
  protocol: ([level, name]: ProtocolID): string => protocol.text(`${level}`, name),
  // A controller has a fixed length, so each concatenation is unambiguous.
  held: (publicKey: string, text: string): string => held.text(digestOf(publicKey + text)),
  entry: (tuple: KvTuple): string => entry.text(digestOf(tupleText(tuple))),
  tag: (text: string): string => (isShort(text) ? tag.text(text) : longTag.text(digestOf(text))),
  tagged: (publicKey: string, text: string): string => tagged.text(digestOf(publicKey + text))
}

/** All events of an entry. */
export const eventsOf = (content: KvContent): string[] => [
  eventOf.entry(content),
  eventOf.held(content.controller, content.key),
  eventOf.key(content.key),
  eventOf.controller(content.controller),
  eventOf.protocol(content.protocolID),
  ...new Set(content.tags.flatMap(each => [eventOf.tag(each), eventOf.tagged(content.controller, each)]))
]

/** The event that names the tuple, among all events of an entry. */
export const entryEventOf = (all: readonly string[]): string | undefined =>
  all.find(each => each.startsWith(`${entry.prefix}:`))
