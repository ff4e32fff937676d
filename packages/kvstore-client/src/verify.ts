/**
 * Verification of a token (BRC-35 §3.3) with @bsv/sdk alone, so that it runs in browsers: the key that is derived from the
 * controller for counterparty "anyone", protocol and key locks the token (§3.2) and signed it.
 */
import { KeyDeriver, PublicKey, Signature } from '@bsv/sdk'
import { hexOf } from './text.ts'
import {
  isRefusal,
  type KvToken,
  type ProtocolID,
  parseToken,
  protocolText,
  type Refusal,
  signedBytes
} from './token.ts'

const anyone = new KeyDeriver('anyone')

/** Parses and verifies a locking script. */
export const verifyScript = (script: Uint8Array): KvToken | Refusal => {
  const token = parseToken(script)
  if (isRefusal(token)) return token
  const { protocolID, key, controller, lockKey } = token
  if (!isPoint(controller)) return { code: 'controller', reason: 'field 4 is not a point on the curve' }
  const derived = derive(controller, protocolID, key)
  if (derived.toString() !== hexOf(lockKey)) {
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

/** The key derived last: every step of a history has the same one. */
let last: { readonly tuple: string; readonly derived: PublicKey } | undefined

const derive = (controller: string, protocolID: ProtocolID, key: string): PublicKey => {
  const tuple = `${controller}${protocolText(protocolID)}${key}`
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
