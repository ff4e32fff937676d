/**
 * P2PKH scripts, and their addresses: base58check of a version byte and the hash of the public key. Checksums are
 * always verified.
 */
import { BASE58, OP, QuoinError } from '@quoin/primitives'
import { sha256d } from './hash.ts'

export type Network = 'main' | 'test'

const VERSIONS: Readonly<Record<Network, number>> = { main: 0x00, test: 0x6f }
const P2PKH_LENGTH = 25

/** OP_DUP OP_HASH160 ‹20 bytes› OP_EQUALVERIFY OP_CHECKSIG, and nothing else. */
export const isP2pkh = (script: Uint8Array): boolean =>
  script.length === P2PKH_LENGTH && startsP2pkh(script, 0)

/** The hash that a P2PKH script pays to, as a view; undefined for other scripts. */
export const p2pkhHash = (script: Uint8Array): Uint8Array | undefined =>
  isP2pkh(script) ? script.subarray(3, 23) : undefined

/** Whether a P2PKH script begins at offset `at`, as within an inscription. */
export const startsP2pkh = (script: Uint8Array, at: number): boolean =>
  script[at] === OP.DUP &&
  script[at + 1] === OP.HASH160 &&
  script[at + 2] === 20 &&
  script[at + 23] === OP.EQUALVERIFY &&
  script[at + 24] === OP.CHECKSIG

/**
 * @example
 * const { hash } = parseAddress('1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc')
 * p2pkh(hash).length // 25
 * formatAddress(hash) // '1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc'
 */
export const p2pkh = (hash: Uint8Array): Uint8Array => {
  if (hash.length !== 20) throw addressError('invalid length of a key hash, expected 20 bytes', hash.length)
  const script = new Uint8Array(P2PKH_LENGTH)
  script[0] = OP.DUP
  script[1] = OP.HASH160
  script[2] = 20
  script.set(hash, 3)
  script[23] = OP.EQUALVERIFY
  script[24] = OP.CHECKSIG
  return script
}

export const formatAddress = (hash: Uint8Array, network: Network = 'main'): string => {
  if (hash.length !== 20) throw addressError('invalid length of a key hash, expected 20 bytes', hash.length)
  const bytes = new Uint8Array(25)
  bytes[0] = VERSIONS[network]
  bytes.set(hash, 1)
  bytes.set(sha256d(bytes.subarray(0, 21)).subarray(0, 4), 21)
  return toBase58(bytes)
}

export const parseAddress = (text: string): { readonly hash: Uint8Array; readonly network: Network } => {
  const bytes = text.length <= 35 ? fromBase58(text) : undefined
  if (bytes?.length !== 25) throw addressError('invalid address', text)
  const checksum = sha256d(bytes.subarray(0, 21))
  for (let i = 0; i < 4; i++) {
    if (bytes[21 + i] !== checksum[i]) throw addressError('invalid checksum of the address', text)
  }
  const network = bytes[0] === VERSIONS.main ? 'main' : bytes[0] === VERSIONS.test ? 'test' : undefined
  if (network === undefined) throw addressError('address of an unknown network', text)
  return { hash: bytes.slice(1, 21), network }
}

const addressError = (message: string, given: unknown): QuoinError =>
  new QuoinError('ERR_KEY_VALUE', `${message}: ${JSON.stringify(given)}`, { given })

const DIGITS = new Map(Array.from(BASE58, (char, digit) => [char, digit]))
/** Four base58 digits at a time: a limb times 2^24 is below 2^48, which a number holds exactly. */
const LIMB = 58 ** 4
/** All pairs of base58 digits, by value. */
const PAIRS = Array.from(BASE58, high => Array.from(BASE58, low => high + low)).flat()

export const toBase58 = (bytes: Uint8Array): string => {
  // Least significant limb first.
  const limbs: number[] = []
  for (let i = 0; i < bytes.length; ) {
    // Three bytes at a time; the first step takes the remainder.
    const end = i === 0 ? bytes.length % 3 || 3 : i + 3
    let carry = 0
    while (i < end) carry = carry * 0x100 + bytes[i++]!
    for (let j = 0; j < limbs.length; j++) {
      const value = limbs[j]! * 0x1000000 + carry
      carry = Math.floor(value / LIMB)
      limbs[j] = value - carry * LIMB
    }
    for (; carry > 0; carry = Math.floor(carry / LIMB)) limbs.push(carry % LIMB)
  }
  let text = ''
  for (let i = limbs.length - 1; i >= 0; i--) {
    const high = Math.floor(limbs[i]! / PAIRS.length)
    text += PAIRS[high]! + PAIRS[limbs[i]! - high * PAIRS.length]!
  }
  // Each leading zero byte is a `1`, since it adds nothing to the number.
  let first = 0
  while (text[first] === '1') first++
  let zeros = 0
  while (bytes[zeros] === 0) zeros++
  return '1'.repeat(zeros) + text.slice(first)
}

/** Undefined for a character outside of base58. Quadratic: callers bound the length. */
export const fromBase58 = (text: string): Uint8Array | undefined => {
  const bytes: number[] = []
  for (const char of text) {
    let carry = DIGITS.get(char)
    if (carry === undefined) return undefined
    for (let i = 0; i < bytes.length; i++) {
      carry += bytes[i]! * 58
      bytes[i] = carry & 0xff
      carry >>= 8
    }
    if (carry > 0) bytes.push(carry)
  }
  for (let i = 0; text[i] === '1'; i++) bytes.push(0)
  return Uint8Array.from(bytes.reverse())
}
