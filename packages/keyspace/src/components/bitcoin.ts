/** Key components for the identifiers of transactions, outputs, tokens and topics. */
import {
  formatOutpoint,
  formatTxid,
  MAX_VOUT,
  type Outpoint,
  type TokenId,
  type Topic,
  type Txid,
  valueError
} from '@quoin/primitives'
import { Codec, type Component, component } from '../codec.ts'
import { Language } from '../language/language.ts'
import { chars, repeat, seq } from '../language/pattern.ts'
import { fixedBytes, getHex, putHex } from './bytes.ts'
import { upTo } from './decimal.ts'
import { asciiCodec } from './text.ts'

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
