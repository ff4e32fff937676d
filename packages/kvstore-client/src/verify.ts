/**
 * Verification of a token (BRC-35 §3.3) with @bsv/sdk alone, so that it runs in browsers: the key that is derived from the
 * controller for counterparty "anyone", protocol and key locks the token (§3.2) and signed it.
 */
import { KeyDeriver, PublicKey, Signature } from '@bsv/sdk'
import { hexOf } from './text.ts'
import {
  BAD_SIGNATURE,
  FOREIGN_LOCK,
  isRefusal,
  type KvToken,
  type KvTuple,
  NOT_ON_CURVE,
  parseToken,
  type Refusal,
  signedBytes,
  tupleText
} from './token.ts'

const anyone = new KeyDeriver('anyone')
const COMPRESSED = 33

/** Parses and verifies a locking script. */
export const verifyScript = (script: Uint8Array): KvToken | Refusal => {
  const token = parseToken(script)
  if (isRefusal(token)) return token
  if (!isPoint(token.controller)) return NOT_ON_CURVE
  const { others = [], ...first } = token
  const locked = [first, ...others].filter(isLocked)
  const verified = locked.find(reading => isSigned(reading, derive(reading)))
  return verified ?? (locked.length === 0 ? FOREIGN_LOCK : BAD_SIGNATURE)
}

const isLocked = (reading: KvToken): boolean => {
  const isShort = reading.lockKey.length === COMPRESSED
  const derived = derive(reading)
  return hexOf(reading.lockKey) === (isShort ? derived.toString() : derived.encode(false, 'hex'))
}

/** The key derived last: every step of a history has the same one. */
let last: { readonly tuple: string; readonly derived: PublicKey } | undefined

const derive = ({ controller, protocolID, key }: KvTuple): PublicKey => {
  const tuple = tupleText({ controller, protocolID, key })
  if (last?.tuple !== tuple) {
    last = { tuple, derived: anyone.derivePublicKey([...protocolID], key, controller) }
  }
  return last.derived
}

/** The SDK reduces a coordinate beyond the field modulo the prime, which would give a point a second encoding. */
const isPoint = (key: string): boolean => {
  try {
    return PublicKey.fromString(key).toString() === key
  } catch {
    return false
  }
}

const isSigned = ({ fields, signature }: KvToken, key: PublicKey): boolean => {
  try {
    return key.verify(Array.from(signedBytes(fields)), Signature.fromDER(Array.from(signature)))
  } catch {
    // Not a DER signature.
    return false
  }
}
