/**
 * The indexes of live entries. Every selector of a query (BRC-35 §3.5) has a sorted set. So have two pairs of selectors
 * whose members alone may select most of the store: key with controller, and tag with controller. A spent entry leaves
 * all of its sets.
 *
 * Keys and tags are untrusted text. Short ones are escaped; long ones, and combinations, are replaced by their SHA-256.
 */
import { sha256 } from '@quoin/chain'
import { alphabet, escaped, hex, word } from '@quoin/keyspace'
import { type KvContent, type ProtocolID, protocolText } from '@quoin/kvstore-client/token'
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

/** The concatenation is unambiguous: a controller has 66 digits, and the JSON of a protocol is self-delimiting. */
const digestOf = (...texts: readonly string[]): Uint8Array => sha256(encoder.encode(texts.join('')))

const isShort = (text: string): boolean => encoder.encode(text).length <= MAX_PLAIN_BYTES

/** Event texts by selector. */
export const eventOf = {
  key: (text: string): string => (isShort(text) ? key.text(text) : longKey.text(digestOf(text))),
  controller: (publicKey: string): string => controller.text(fromHex(publicKey)),
  protocol: ([level, name]: ProtocolID): string => protocol.text(`${level}`, name),
  held: (publicKey: string, text: string): string => held.text(digestOf(publicKey, text)),
  entry: ({ controller: publicKey, protocolID, key: text }: KvTuple): string =>
    entry.text(digestOf(publicKey, protocolText(protocolID), text)),
  tag: (text: string): string => (isShort(text) ? tag.text(text) : longTag.text(digestOf(text))),
  tagged: (publicKey: string, text: string): string => tagged.text(digestOf(publicKey, text))
}

/** The identity of an entry (§1). */
export type KvTuple = Pick<KvContent, 'protocolID' | 'key' | 'controller'>

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
