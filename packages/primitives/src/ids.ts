/**
 * Identifiers of transactions, outputs, tokens and topics. A txid is 32 bytes in hash order, and an outpoint is the txid
 * and the output index as four bytes, most significant first, so that the outputs of a transaction scan in order. People
 * see the txid reversed, in hexadecimal.
 */
import { copyOf, toHex } from './bytes.ts'
import { valueError } from './value-error.ts'

declare const kind: unique symbol
export type Txid = Uint8Array & { readonly [kind]: 'txid' }
export type Outpoint = Uint8Array & { readonly [kind]: 'outpoint' }
/** The outpoint of a token's deployment as text: `txid_vout`. */
export type TokenId = string & { readonly [kind]: 'token' }
export type Topic = string & { readonly [kind]: 'topic' }

export const MAX_VOUT = 0xffffffff

/** Parses 64 hexadecimal digits. */
export const parseTxid = (text: string): Txid => {
  if (!/^[0-9a-f]{64}$/i.test(text)) throw valueError('txid', text, '64 hexadecimal digits')
  return Uint8Array.from(text.match(/../g)!, pair => Number.parseInt(pair, 16)).reverse() as Txid
}

export const formatTxid = (txid: Txid): string => toHex(copyOf(txid).reverse())

/**
 * Parses `txid.vout`, `txid_vout`, `txid:vout` or `txidivout`.
 *
 * @example
 * const outpoint = parseOutpoint(`${'00'.repeat(31)}ff_1`)
 * outpoint.length // 36
 * formatOutpoint(outpoint) // '…ff.1'
 * parseOutpoint('ff_1') // throws ERR_KEY_VALUE
 */
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
  // Byte by byte: a DataView would first move so short an array out of V8's heap.
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
