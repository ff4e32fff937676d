/**
 * Bitcoin Signed Messages: a signature of 65 bytes from which the key of the signer can be recovered, over a message
 * with a magic text before it. Protocols name the signer by address, so the address is what is compared.
 */

import { hash160, sha256d } from '@quoin/chain'
import { Writer } from '@quoin/primitives'
import secp256k1 from 'secp256k1'
import { addressAt } from './addresses.ts'

const MAGIC = Uint8Array.from(Buffer.from('Bitcoin Signed Message:\n'))
const SIGNATURE_LENGTH = 65
/** The first byte tells which of the four possible keys it is, and four more if the key is compressed. */
const FIRST_FLAG = 27
const LAST_FLAG = 34

/** What is signed. */
export const messageHash = (message: Uint8Array): Uint8Array => {
  const writer = new Writer(message.length + 64)
  writer.sized(MAGIC)
  writer.sized(message)
  return sha256d(writer.finish())
}

/** The address of the one who signed the message; undefined when nobody can have. */
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
    // Numbers out of range, or a point that is not on the curve: it has no other way to say so.
    return undefined
  }
}

/** A signature as scripts have it: its bytes, or their base64. */
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
