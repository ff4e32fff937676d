/**
 * Verification of a token (BRC-35 §3.2, §3.3): its lock is the key that BRC-42 derives from the controller for counterparty
 * "anyone", and that key signed its fields. The private key of "anyone" is 1, so the shared secret is the public key of
 * the controller: the cost is one addition on the curve and one signature verification.
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

/** The uncompressed key of the controller for counterparty "anyone", a protocol and a key ID. */
const deriveKey = (controller: Uint8Array, [level, name]: ProtocolID, key: string): Uint8Array | undefined =>
  tweakPublicKey(controller, createHmac('sha256', controller).update(`${level}-${name}-${key}`).digest())

/**
 * Parses and verifies a locking script. A lock key that `hasKnownLock` recognises, because a verified token of the same
 * tuple has it, is not derived again.
 *
 * @example
 * 'reason' in verifyToken(Uint8Array.of(0x6a)) // true
 */
export const verifyToken = (
  script: Uint8Array,
  hasKnownLock: (token: KvToken) => boolean = () => false
): KvToken | Refusal => {
  const token = parseToken(script)
  if (isRefusal(token)) return token
  const { fields, protocolID, key, lockKey } = token
  const derived = hasKnownLock(token) ? lockKey : deriveKey(fields[3]!, protocolID, key)
  if (!derived) return { code: 'controller', reason: 'field 4 is not a point on the curve' }
  if (!isSamePoint(derived, lockKey)) {
    return { code: 'lock', reason: 'the lock key is not derived from controller, protocol and key' }
  }
  for (const reading of [token, token.withZero]) {
    if (reading && isSigned(reading, derived)) {
      const { withZero: _, ...verified } = reading
      return verified
    }
  }
  return {
    code: 'signature',
    reason: 'the last field is not a signature of the other fields by the lock key'
  }
}

const COORDINATE = 32

/** Whether a point in either form equals a compressed one. */
const isSamePoint = (point: Uint8Array, compressed: Uint8Array): boolean => {
  const hasY = point.length > compressed.length
  if (compressed[0] !== (hasY ? 2 + (point[2 * COORDINATE]! & 1) : point[0])) return false
  for (let i = 1; i <= COORDINATE; i++) if (point[i] !== compressed[i]) return false
  return true
}

/** Parses a locking script that was verified at admission; undefined when it is not a token. */
export const readVerified = (script: Uint8Array): KvToken | undefined => {
  const parsed = parseToken(script)
  // OP_0 stands for no bytes or for a zero byte; the signature decides.
  const token = !isRefusal(parsed) && parsed.withZero ? verifyToken(script) : parsed
  return isRefusal(token) ? undefined : token
}

const isSigned = ({ fields, signature }: KvToken, key: Uint8Array): boolean => {
  // Signatures in scripts end with a sighash byte, which `readSignature` expects.
  const typed = new Uint8Array(signature.length + 1)
  typed.set(signature)
  const read = readSignature(typed)
  return read !== undefined && verifySignature(read, sha256(signedBytes(fields)), key)
}
