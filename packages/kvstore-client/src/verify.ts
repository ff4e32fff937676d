/**
 * Whether a token is what it says (BRC-35 §3.3), with what browsers have. Anyone derives the key that the controller has
 * with anyone for the protocol and the key: it locks the token (§3.2), and it signed it.
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

/** Reads a locking script and verifies it: the token, or why it is none. */
export const verifyScript = (script: Uint8Array): KvToken | Refusal => {
  const token = parseToken(script)
  if (isRefusal(token)) return token
  const { protocolID, key, controller, lockKey } = token
  if (!isPoint(controller)) return { code: 'controller', reason: 'field 4 is no public key of the curve' }
  const derived = derive(controller, protocolID, key)
  if (derived.toString() !== hexOf(lockKey)) {
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

/** The last one is kept: a history asks for one key as often as it has steps. */
let last: { readonly name: string; readonly derived: PublicKey } | undefined

const derive = (controller: string, protocolID: ProtocolID, key: string): PublicKey => {
  const name = `${controller}${protocolText(protocolID)}${key}`
  if (last?.name !== name) {
    last = { name, derived: anyone.derivePublicKey([...protocolID], key, controller) }
  }
  return last.derived
}

/** The SDK takes a coordinate beyond the field for what is left of it: that would be another name of another key. */
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
    // Not even the form of one.
    return false
  }
}
