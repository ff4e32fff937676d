/**
 * Signatures as scripts carry them (strict DER and a byte that says what was signed), checked by libsecp256k1 through
 * the package `secp256k1`. Where its binary does not load, the package has the same in JavaScript: forty times slower,
 * with the same answers.
 */
import { createRequire } from 'node:module'

/** The functions of the package that are called here; its types are not installed with it. */
interface Library {
  ecdsaVerify(signature: Uint8Array, digest: Uint8Array, publicKey: Uint8Array): boolean
  signatureNormalize(signature: Uint8Array): Uint8Array
  publicKeyTweakAdd(publicKey: Uint8Array, tweak: Uint8Array, compressed: boolean): Uint8Array
}
export type SignatureBackend = 'native' | 'javascript'

const require = createRequire(import.meta.url)

const load = (): { readonly library: Library; readonly backend: SignatureBackend } => {
  try {
    return { library: require('secp256k1/bindings.js'), backend: 'native' }
  } catch {
    return { library: require('secp256k1/elliptic.js'), backend: 'javascript' }
  }
}

const { library, backend } = load()

/** What checks signatures in this process. An operator should be told when it is `javascript`. */
export const signatureBackend = (): SignatureBackend => backend

export interface Signature {
  /** The two numbers r and s, 32 bytes each, most significant first. */
  readonly compact: Uint8Array
  /** Whether s is above half the order: then the same signature also has a lower s, and one of them is one too many. */
  readonly isHigh: boolean
  /** What was signed. */
  readonly type: number
}

const SEQUENCE = 0x30
const INTEGER = 0x02
const HALF_ORDER = Uint8Array.from(
  '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0'.match(/../g)!,
  pair => Number.parseInt(pair, 16)
)

/** Reads a signature; undefined when it is not strict DER (BIP-66), or holds a number of more than 32 bytes, or zero. */
export const readSignature = (bytes: Uint8Array): Signature | undefined => {
  const { length } = bytes
  if (length < 9 || length > 73 || bytes[0] !== SEQUENCE || bytes[1] !== length - 3) return undefined
  const rEnd = 4 + bytes[3]!
  const sEnd = rEnd + 2 + (bytes[rEnd + 1] ?? length)
  if (sEnd !== length - 1 || bytes[2] !== INTEGER || bytes[rEnd] !== INTEGER) return undefined
  const compact = new Uint8Array(64)
  if (!putInteger(bytes, 4, rEnd, compact, 32) || !putInteger(bytes, rEnd + 2, sEnd, compact, 64))
    return undefined
  return { compact, isHigh: isAboveHalf(compact), type: bytes[length - 1]! }
}

/** Copies a DER integer to where it ends at `targetEnd`, if it is positive, as short as it can be, and fits. */
const putInteger = (
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  targetEnd: number
): boolean => {
  const first = source[start]!
  if (start >= end || first >= 0x80) return false
  // A leading zero is there to keep the number positive, or should not be there.
  const isPadded = first === 0
  if (isPadded && (end - start === 1 || source[start + 1]! < 0x80)) return false
  const from = isPadded ? start + 1 : start
  if (end - from > 32) return false
  target.set(source.subarray(from, end), targetEnd - (end - from))
  return true
}

const isAboveHalf = (compact: Uint8Array): boolean => {
  for (let i = 0; i < 32; i++) {
    const difference = compact[32 + i]! - HALF_ORDER[i]!
    if (difference !== 0) return difference > 0
  }
  return false
}

/** Whether the bytes have the form of a public key that a script may use: 33 bytes, or 65 that begin with 04. */
export const isPublicKeyForm = (key: Uint8Array): boolean =>
  key.length === 33 ? key[0] === 0x02 || key[0] === 0x03 : key.length === 65 && key[0] === 0x04

type Verify = (
  signature: Pick<Signature, 'compact' | 'isHigh'>,
  digest: Uint8Array,
  publicKey: Uint8Array
) => boolean

/** @internal Either library, for the test that they agree. */
export const verifierBy =
  ({ ecdsaVerify, signatureNormalize }: Library): Verify =>
  ({ compact, isHigh }, digest, publicKey) => {
    try {
      // The library takes the lower s only.
      return ecdsaVerify(isHigh ? signatureNormalize(compact.slice()) : compact, digest, publicKey)
    } catch {
      // Thrown for numbers above the order and for keys that are not on the curve.
      return false
    }
  }

/** Whether the key, which has the right form, made this signature of this digest. */
export const verifySignature: Verify = verifierBy(library)

/**
 * A public key with a number added to its private one (BRC-42); undefined when there is none such. It is not compressed:
 * to verify with it takes a tenth less.
 */
export const tweakPublicKey = (publicKey: Uint8Array, tweak: Uint8Array): Uint8Array | undefined => {
  try {
    return library.publicKeyTweakAdd(publicKey, tweak, false)
  } catch {
    // Thrown for keys that are not on the curve, for numbers above the order, and for a sum at infinity.
    return undefined
  }
}
