/**
 * Whether a token is what it says (BRC-35 §3.2, §3.3). Anyone can derive the key that locks an entry and signed it: the
 * private key of "anyone" is 1, so the secret that BRC-42 shares with the controller is the controller's own public key,
 * and one addition on the curve and one verification are all there is to do.
 */
import { createHmac } from 'node:crypto'
import { readSignature, sha256, tweakPublicKey, verifySignature } from '@quoin/chain'
import {
  isRefusal,
  type KvToken,
  type ProtocolID,
  parseToken,
  type Refusal,
  signedBytes
} from '@quoin/kvstore-client/token'

/** The key of a protocol and a key ID that the controller has with anyone, not compressed. */
const deriveKey = (controller: Uint8Array, [level, name]: ProtocolID, key: string): Uint8Array | undefined =>
  tweakPublicKey(controller, createHmac('sha256', controller).update(`${level}-${name}-${key}`).digest())

/**
 * Reads a locking script and verifies it: the token, or why it is none. Where it is known that the controller has its lock
 * key, as that of a token before it, that is not derived again.
 */
export const verifyToken = (
  script: Uint8Array,
  isKnown: (token: KvToken) => boolean = () => false
): KvToken | Refusal => {
  const token = parseToken(script)
  if (isRefusal(token)) return token
  const { fields, protocolID, key, lockKey } = token
  const derived = isKnown(token) ? lockKey : deriveKey(fields[3]!, protocolID, key)
  if (!derived) return { code: 'controller', reason: 'field 4 is no public key of the curve' }
  if (!isSamePoint(derived, lockKey)) {
    return {
      code: 'lock',
      reason: 'it is locked by another key than the controller has for protocol and key'
    }
  }
  for (const reading of [token, token.withZero]) {
    if (reading && isSigned(reading, derived)) {
      const { withZero: _, ...verified } = reading
      return verified
    }
  }
  return { code: 'signature', reason: 'the last field is no signature of the other fields by the controller' }
}

const COORDINATE = 32

/** Whether a point, compressed or not, is the one that is compressed. */
const isSamePoint = (point: Uint8Array, compressed: Uint8Array): boolean => {
  const isWhole = point.length > compressed.length
  if (compressed[0] !== (isWhole ? 2 + (point[2 * COORDINATE]! & 1) : point[0])) return false
  for (let i = 1; i <= COORDINATE; i++) if (point[i] !== compressed[i]) return false
  return true
}

/** Reads a locking script that was verified before; undefined when it is no token. */
export const readVerified = (script: Uint8Array): KvToken | undefined => {
  const parsed = parseToken(script)
  // Only the signature tells what an OP_0 was.
  const token = !isRefusal(parsed) && parsed.withZero ? verifyToken(script) : parsed
  return isRefusal(token) ? undefined : token
}

const isSigned = ({ fields, signature }: KvToken, key: Uint8Array): boolean => {
  // Those of scripts have a byte more, which says what was signed.
  const typed = new Uint8Array(signature.length + 1)
  typed.set(signature)
  const read = readSignature(typed)
  return read !== undefined && verifySignature(read, sha256(signedBytes(fields)), key)
}
