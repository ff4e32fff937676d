/**
 * Verification of a token (BRC-35 §3.2, §3.3): its lock is the key that BRC-42 derives from the controller for counterparty
 * "anyone", and that key signed its fields.
 */
import { deriveAnyoneKey, readSignature, sha256, verifySignature } from '@quoin/chain'
import {
  BAD_SIGNATURE,
  FOREIGN_LOCK,
  isRefusal,
  type KvToken,
  NOT_ON_CURVE,
  parseToken,
  type Refusal,
  signedBytes,
  strictDer
} from '@quoin/kvstore-client/token'
import { equalBytes } from '@quoin/primitives'

const deriveKey = ({ fields, protocolID: [level, name], key }: KvToken): Uint8Array | undefined =>
  deriveAnyoneKey(fields[3]!, `${level}-${name}-${key}`)

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
  const { others = [], ...first } = token
  let refused = FOREIGN_LOCK
  for (const reading of [first, ...others]) {
    const { lockKey } = reading
    const derived = hasKnownLock(reading) ? lockKey : deriveKey(reading)
    if (!derived) return NOT_ON_CURVE
    if (!isSamePoint(derived, lockKey)) continue
    if (isSigned(reading, derived)) return reading
    refused = BAD_SIGNATURE
  }
  return refused
}

const COORDINATE = 32

/** Whether two points are the same, each compressed or not. */
const isSamePoint = (a: Uint8Array, b: Uint8Array): boolean => {
  if (parityOf(a) !== parityOf(b)) return false
  for (let i = 1; i <= COORDINATE; i++) if (a[i] !== b[i]) return false
  // Of a point that is not compressed, the last byte alone would not bind its y.
  return a.length === b.length ? equalBytes(a, b) : true
}

const parityOf = (point: Uint8Array): number =>
  point.length > 1 + COORDINATE ? point[2 * COORDINATE]! & 1 : point[0]! & 1

/** Parses a locking script that was verified at admission; undefined when it is not a token. */
export const readVerified = (script: Uint8Array): KvToken | undefined => {
  const parsed = parseToken(script)
  // Of several readings, the signature decides.
  const token = !isRefusal(parsed) && parsed.others ? verifyToken(script) : parsed
  return isRefusal(token) ? undefined : token
}

const isSigned = ({ fields, signature }: KvToken, key: Uint8Array): boolean => {
  const der = strictDer(signature)
  if (!der) return false
  // Signatures in scripts end with a sighash byte, which `readSignature` expects.
  const typed = new Uint8Array(der.length + 1)
  typed.set(der)
  const read = readSignature(typed)
  return read !== undefined && verifySignature(read, sha256(signedBytes(fields)), key)
}
