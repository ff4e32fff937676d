/** Signatures to check as one run of bytes, which costs little to hand to a thread. */
import { type Check, verifySignature } from './secp256k1.ts'

const COMPACT = 2
const DIGEST = COMPACT + 64
const KEY = DIGEST + 32
const SIZE = KEY + 65

export const packChecks = (checks: readonly Check[]): Uint8Array<ArrayBuffer> => {
  const packed = new Uint8Array(checks.length * SIZE)
  let at = 0
  for (const { signature, digest, key } of checks) {
    packed[at] = key.length
    packed[at + 1] = Number(signature.isHigh)
    packed.set(signature.compact, at + COMPACT)
    packed.set(digest, at + DIGEST)
    packed.set(key, at + KEY)
    at += SIZE
  }
  return packed
}

/** One byte for each: whether it holds. */
export const verifyPacked = (packed: Uint8Array): Uint8Array<ArrayBuffer> => {
  const verdicts = new Uint8Array(packed.length / SIZE)
  for (let i = 0, at = 0; i < verdicts.length; i++, at += SIZE) {
    const part = (from: number, length: number) => packed.subarray(at + from, at + from + length)
    const signature = { compact: part(COMPACT, 64), isHigh: packed[at + 1] === 1 }
    verdicts[i] = Number(verifySignature(signature, part(DIGEST, 32), part(KEY, packed[at]!)))
  }
  return verdicts
}
