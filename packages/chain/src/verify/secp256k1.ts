/**
 * Signatures in scripts (strict DER and a sighash byte), verified by libsecp256k1 through the package `secp256k1`.
 * Where its binary does not load, the package falls back to JavaScript: forty times slower, with the same answers.
 */
import { createRequire } from 'node:module'

/** Functions of the package that we call; it ships no types. */
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

/** Backend of this process. An operator should be told when it is `javascript`. */
export const signatureBackend = (): SignatureBackend => backend

export interface Signature {
  /** r and s, 32 bytes each, big-endian. */
  readonly compact: Uint8Array
  /** Whether s is above half the order, so that the signature has a second, lower form. */
  readonly isHigh: boolean
  /** Sighash type. */
  readonly type: number
}

const SEQUENCE = 0x30
const INTEGER = 0x02
const HALF_ORDER = Uint8Array.from(
  '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0'.match(/../g)!,
  pair => Number.parseInt(pair, 16)
)

/**
 * Parses a signature; undefined for anything but strict DER (BIP-66), and for numbers of zero or more than 32 bytes.
 */
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

/** Copies a DER integer so that it ends at `targetEnd`; false unless it is positive, minimal and fits. */
const putInteger = (
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  targetEnd: number
): boolean => {
  const first = source[start]!
  if (start >= end || first >= 0x80) return false
  // A leading zero must be needed to keep the number positive.
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

/** Whether the bytes have the form of a public key: 33 bytes, or 65 with the prefix 04. */
export const isPublicKeyForm = (key: Uint8Array): boolean =>
  key.length === 33 ? key[0] === 0x02 || key[0] === 0x03 : key.length === 65 && key[0] === 0x04

type Verify = (
  signature: Pick<Signature, 'compact' | 'isHigh'>,
  digest: Uint8Array,
  publicKey: Uint8Array
) => boolean

/** @internal A verifier on either backend, for the test that they agree. */
export const verifierBy =
  ({ ecdsaVerify, signatureNormalize }: Library): Verify =>
  ({ compact, isHigh }, digest, publicKey) => {
    try {
      // libsecp256k1 accepts a low s only.
      return ecdsaVerify(isHigh ? signatureNormalize(compact.slice()) : compact, digest, publicKey)
    } catch {
      // Thrown for numbers above the order and keys off the curve.
      return false
    }
  }

/** Whether a key of valid form made this signature of this digest. */
export const verifySignature: Verify = verifierBy(library)

/**
 * Public key with a number added to its private key (BRC-42); undefined when no key results. Uncompressed: verifying
 * with it takes a tenth less.
 */
export const tweakPublicKey = (publicKey: Uint8Array, tweak: Uint8Array): Uint8Array | undefined => {
  try {
    return library.publicKeyTweakAdd(publicKey, tweak, false)
  } catch {
    // Thrown for keys off the curve, numbers above the order, and a sum at infinity.
    return undefined
  }
}
