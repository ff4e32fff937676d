/**
 * Bitcoin Signed Messages: a recoverable signature of 65 bytes over a message behind a magic text. Protocols name the
 * signer by address, so addresses are compared.
 */

import { hash160, sha256d } from '@quoin/chain'
import { Writer } from '@quoin/primitives'
import secp256k1 from 'secp256k1'
import { addressAt } from './addresses.ts'

const MAGIC = Uint8Array.from(Buffer.from('Bitcoin Signed Message:\n'))
const SIGNATURE_LENGTH = 65
/** The first byte is 27 plus the recovery id of the key, and 4 more for a compressed key. */
const FIRST_FLAG = 27
const LAST_FLAG = 34

/** The hash that is signed. */
export const messageHash = (message: Uint8Array): Uint8Array => {
  const writer = new Writer(message.length + 64)
  writer.sized(MAGIC)
  writer.sized(message)
  return sha256d(writer.finish())
}

/** The signer's address; undefined if the signature is invalid for every key. */
export const signerOf = (message: Uint8Array, signature: Uint8Array): string | undefined => {
  const flag = signature[0]!
  if (signature.length !== SIGNATURE_LENGTH || flag < FIRST_FLAG || flag > LAST_FLAG) return undefined
  const which = flag - FIRST_FLAG
  const key = recover(signature.subarray(1), which & 3, messageHash(message), which >= 4)
  return key && addressAt(hash160(key), 0)
}

const recover = (
  signature: Uint8Array,
  which: number,
  hash: Uint8Array,
  compressed: boolean
): Uint8Array | undefined => {
  try {
    return secp256k1.ecdsaRecover(signature, which, hash, compressed)
  } catch {
    // libsecp256k1 throws for numbers out of range and for a point that is not on the curve.
    return undefined
  }
}

/** A signature in a script: its bytes, or their base64. */
export const readSignature = (field: Uint8Array | undefined): Uint8Array | undefined => {
  if (field?.length === SIGNATURE_LENGTH) return field
  if (field?.length !== BASE64_LENGTH) return undefined
  const text = Buffer.from(field).toString('latin1')
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === SIGNATURE_LENGTH && bytes.toString('base64') === text
    ? Uint8Array.from(bytes)
    : undefined
}

const BASE64_LENGTH = 88
