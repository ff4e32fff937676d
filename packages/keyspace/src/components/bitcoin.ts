/**
 * Transactions and outputs in keys. Inside, a txid is 32 bytes in hash order and an outpoint is that txid and
 * the output number as four bytes, most significant first, so that the outputs of a transaction scan in order.
 * People see the txid reversed, in hexadecimal.
 */
import { copyOf, toHex } from '@quoin/primitives'
import { Codec, type Component, component, valueError } from '../codec.ts'
import { Language } from '../language/language.ts'
import { chars, repeat, seq } from '../language/pattern.ts'
import { fixedBytes, getHex, putHex } from './bytes.ts'
import { upTo } from './decimal.ts'
import { asciiCodec } from './text.ts'

declare const kind: unique symbol
export type Txid = Uint8Array & { readonly [kind]: 'txid' }
export type Outpoint = Uint8Array & { readonly [kind]: 'outpoint' }
/** The outpoint of a token's deployment as text: `txid_vout`. */
export type TokenId = string & { readonly [kind]: 'token' }
export type Topic = string & { readonly [kind]: 'topic' }

const MAX_VOUT = 0xffffffff

/** The txid that people write as 64 hexadecimal digits. */
export const parseTxid = (text: string): Txid => {
  if (!/^[0-9a-f]{64}$/i.test(text)) throw valueError('txid', text, '64 hexadecimal digits')
  return Uint8Array.from(text.match(/../g)!, pair => Number.parseInt(pair, 16)).reverse() as Txid
}

export const formatTxid = (txid: Txid): string => toHex(copyOf(txid).reverse())

/** `txid.vout`, `txid_vout`, `txid:vout` or `txidivout`. */
export const parseOutpoint = (text: string): Outpoint => {
  const match = /^([0-9a-fA-F]{64})[._:i](0|[1-9][0-9]{0,9})$/.exec(text)
  const vout = Number(match?.[2])
  if (!match || vout > MAX_VOUT) {
    throw valueError('outpoint', text, '64 hexadecimal digits, one of `. _ : i`, and an output number')
  }
  return makeOutpoint(parseTxid(match[1]!), vout)
}

export const makeOutpoint = (txid: Txid, vout: number): Outpoint => {
  if (!(txid instanceof Uint8Array) || txid.length !== 32) throw valueError('txid', txid, '32 bytes')
  if (!Number.isInteger(vout) || vout < 0 || vout > MAX_VOUT)
    throw valueError('vout', vout, 'an output number')
  // Byte by byte: a view of so short an array would first have to move it out of V8's heap.
  const bytes = new Uint8Array(36)
  bytes.set(txid)
  bytes[32] = vout >>> 24
  bytes[33] = vout >>> 16
  bytes[34] = vout >>> 8
  bytes[35] = vout
  return bytes as Outpoint
}

export const txidOf = (outpoint: Outpoint): Txid => copyOf(outpoint, 0, 32) as Txid
export const voutOf = (outpoint: Outpoint): number =>
  outpoint[32]! * 0x1000000 + ((outpoint[33]! << 16) | (outpoint[34]! << 8) | outpoint[35]!)

export const formatOutpoint = (outpoint: Outpoint, separator: '.' | '_' = '.'): string =>
  `${formatTxid(txidOf(outpoint))}${separator}${voutOf(outpoint)}`

const HEX = chars('0123456789abcdef')
const TOPIC = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-'

const txidCodec = fixedBytes<Txid>('txid', '32 byte txid', 32, formatTxid)
const outpointCodec = fixedBytes<Outpoint>('outpoint', '36 byte outpoint', 36, formatOutpoint)

const txidHexCodec = new Codec<Txid>({
  name: 'txidHex',
  phrase: 'display hex',
  language: Language.of(repeat(HEX, 64)),
  order: 'bytes',
  orderName: 'lexicographic',
  put(value, target, offset) {
    if (!(value instanceof Uint8Array) || value.length !== 32) throw valueError('txidHex', value, '32 bytes')
    return putHex(value, target, offset, true)
  },
  read: (source, start, end) => getHex(source, start, end, true) as Txid,
  show: formatTxid
})

const tokenIdCodec = asciiCodec<TokenId>(
  'tokenId',
  'token id',
  seq(repeat(HEX, 64), chars('_'), upTo(BigInt(MAX_VOUT)))
)
const topicCodec = asciiCodec<Topic>('topic', 'topic', repeat(chars(TOPIC), 1, 128))

export const txid = <const N extends string>(name: N): Component<N, Txid> => component(name, txidCodec)
export const outpoint = <const N extends string>(name: N): Component<N, Outpoint> =>
  component(name, outpointCodec)
/** A txid as the 64 digits that people see. */
export const txidHex = <const N extends string>(name: N): Component<N, Txid> => component(name, txidHexCodec)
/** Canonical `txid_vout`: lower-case digits, no leading zeros. */
export const tokenId = <const N extends string>(name: N): Component<N, TokenId> =>
  component(name, tokenIdCodec)
/** The name of an overlay topic: 1 to 128 letters, digits and `. _ -`. */
export const topic = <const N extends string>(name: N): Component<N, Topic> => component(name, topicCodec)
