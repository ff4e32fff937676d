/**
 * Fee addresses: payments to the fee address of a token pay for its indexing. The address is derived from the operator's
 * extended public key (BIP-32) and the token id: with h = SHA-256(txid in display order ‖ vout, 4 bytes big-endian), the
 * path is 21 / (first four bytes of h) >> 1 / (bytes 24 to 27 of h) >> 1, not hardened, so that wallets with the public key
 * find the same address.
 */
import { createHmac } from 'node:crypto'
import { formatAddress, fromBase58, hash160, sha256, sha256d } from '@quoin/chain'
import {
  equalBytes,
  memoize,
  parseOutpoint,
  QuoinError,
  type TokenId,
  txidOf,
  voutOf
} from '@quoin/primitives'
import secp256k1 from 'secp256k1'

const XPUB_VERSION = 0x0488b21e
const PURPOSE = 21

interface ExtendedKey {
  /** 33 bytes. */
  readonly key: Uint8Array
  readonly chainCode: Uint8Array
}

/** A derivation costs 140 µs, and each activation check of a token that is not whitelisted needs it. */
const MAX_MEMOIZED = 100_000

/** Derives the fee address of any token. */
export type FeeAddresses = (token: TokenId) => string

/** Refused with `ERR_CONFIG` unless it is an extended public key of the main network. */
export const feeAddresses = (xpub: string): FeeAddresses => {
  const purpose = childOf(readExtendedKey(xpub), PURPOSE)
  return memoize(MAX_MEMOIZED, token => {
    const [first, second] = pathOf(token)
    return formatAddress(hash160(childOf(childOf(purpose, first), second).key))
  })
}

/** The two path numbers of a token. */
export const pathOf = (token: TokenId): [first: number, second: number] => {
  const outpoint = parseOutpoint(token)
  const bytes = new Uint8Array(36)
  bytes.set(txidOf(outpoint).reverse())
  const view = new DataView(bytes.buffer)
  view.setUint32(32, voutOf(outpoint))
  const digest = sha256(bytes)
  const numbers = new DataView(digest.buffer, digest.byteOffset)
  return [numbers.getUint32(0) >>> 1, numbers.getUint32(24) >>> 1]
}

/** Version (4) ‖ depth (1) ‖ parent (4) ‖ number (4) ‖ chain code (32) ‖ key (33) ‖ checksum (4), in base58. */
const readExtendedKey = (xpub: string): ExtendedKey => {
  const bytes = xpub.length <= 112 ? fromBase58(xpub) : undefined
  const isWhole =
    bytes?.length === 82 && equalBytes(sha256d(bytes.subarray(0, 78)).subarray(0, 4), bytes.subarray(78))
  if (!isWhole || new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) !== XPUB_VERSION) {
    throw notAKey('expected an extended public key (xpub…)')
  }
  const key = bytes.slice(45, 78)
  if (!secp256k1.publicKeyVerify(key)) throw notAKey('its key is not a point of the curve')
  return { key, chainCode: bytes.slice(13, 45) }
}

const notAKey = (reason: string): QuoinError =>
  new QuoinError('ERR_CONFIG', `the extended public key for fees is wrong: ${reason}`, { reason })

/** BIP-32, public parent to public child. */
const childOf = ({ key, chainCode }: ExtendedKey, number: number): ExtendedKey => {
  const data = new Uint8Array(37)
  data.set(key)
  new DataView(data.buffer).setUint32(33, number)
  const digest = Uint8Array.from(createHmac('sha512', chainCode).update(data).digest())
  return {
    // Fails with a probability of 2^-127.
    key: secp256k1.publicKeyTweakAdd(key, digest.subarray(0, 32)),
    chainCode: digest.slice(32)
  }
}
