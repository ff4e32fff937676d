/** Key components of Bitcoin: identifiers of transactions, outputs and tokens, topics and addresses. */

import {
  asciiCodec,
  Codec,
  type Component,
  component,
  fixedBytesCodec,
  Language,
  pattern
} from '@quoin/keyspace'
import {
  BASE58,
  formatOutpoint,
  formatTxid,
  MAX_VOUT,
  type Outpoint,
  readHex,
  type TokenId,
  type Topic,
  type Txid,
  valueError,
  writeHex
} from '@quoin/primitives'

const { chars, decimalUpTo, repeat, seq } = pattern
const HEX = chars('0123456789abcdef')
const TOPIC = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-'

const txidCodec = fixedBytesCodec<Txid>('txid', '32 byte txid', 32, formatTxid)
const outpointCodec = fixedBytesCodec<Outpoint>('outpoint', '36 byte outpoint', 36, formatOutpoint)

const txidHexCodec = new Codec<Txid>({
  name: 'txidHex',
  phrase: 'display hex',
  language: Language.of(repeat(HEX, 64)),
  order: 'bytes',
  orderName: 'lexicographic',
  put(value, target, offset) {
    if (!(value instanceof Uint8Array) || value.length !== 32) throw valueError('txidHex', value, '32 bytes')
    return writeHex(value, target, offset, true)
  },
  read: (source, start, end) => readHex(source, start, end, true) as Txid,
  show: formatTxid
})

const tokenIdCodec = asciiCodec<TokenId>(
  'tokenId',
  'token id',
  seq(repeat(HEX, 64), chars('_'), decimalUpTo(BigInt(MAX_VOUT)))
)
const topicCodec = asciiCodec<Topic>('topic', 'topic', repeat(chars(TOPIC), 1, 128))

export const txid = <const N extends string>(name: N): Component<N, Txid> => component(name, txidCodec)
export const outpoint = <const N extends string>(name: N): Component<N, Outpoint> =>
  component(name, outpointCodec)
/** Txid as 64 display digits. */
export const txidHex = <const N extends string>(name: N): Component<N, Txid> => component(name, txidHexCodec)
/** Canonical `txid_vout`: lower-case digits, no leading zeros. */
export const tokenId = <const N extends string>(name: N): Component<N, TokenId> =>
  component(name, tokenIdCodec)
/** The name of an overlay topic: 1 to 128 letters, digits and `. _ -`. */
export const topic = <const N extends string>(name: N): Component<N, Topic> => component(name, topicCodec)

const addressCodec = asciiCodec<string>('base58', 'base58 address', repeat(chars(BASE58), 25, 35))

/** A Bitcoin address: a version byte, a 20-byte hash and a checksum make 25 to 35 base58 characters. */
export const address = <const N extends string>(name: N): Component<N, string> =>
  component(name, addressCodec)
