/**
 * Addresses of public key hashes, memoized: base58check takes longer than all other work on a plain payment, and few
 * hashes are frequent.
 */
import { formatAddress } from '@quoin/chain'

const SLOTS = 1 << 14
const hashes = new Uint8Array(SLOTS * 20)
const addresses: (string | undefined)[] = new Array(SLOTS).fill(undefined)

/** The mainnet address of the hash `script[at..at + 20)`. */
export const addressAt = (script: Uint8Array, at: number): string => {
  const slot = (script[at]! | (script[at + 1]! << 8)) & (SLOTS - 1)
  const known = addresses[slot]
  const start = slot * 20
  if (known !== undefined) {
    let i = 0
    while (i < 20 && hashes[start + i] === script[at + i]) i++
    if (i === 20) return known
  }
  const hash = script.subarray(at, at + 20)
  const address = formatAddress(hash)
  hashes.set(hash, start)
  addresses[slot] = address
  return address
}
