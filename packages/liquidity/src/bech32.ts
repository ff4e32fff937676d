/** Addresses as bech32 text (BIP-173): a human-readable part, the bytes, a checksum. */
import { QuoinError } from '@quoin/primitives'

const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
const CHECKSUM_LENGTH = 6
/** The chain's limit on the bytes of an address. */
const MAX_BYTES = 255

export interface Address {
  readonly prefix: string
  readonly bytes: Uint8Array
}

const polymod = (checksum: number, word: number): number => {
  const top = checksum >>> 25
  let next = ((checksum & 0x1ffffff) << 5) ^ word
  for (let i = 0; i < 5; i++) if ((top >>> i) & 1) next ^= GENERATOR[i]!
  return next
}

const checksumOf = (prefix: string, words: readonly number[]): number => {
  let checksum = 1
  for (const char of prefix) checksum = polymod(checksum, char.charCodeAt(0) >>> 5)
  checksum = polymod(checksum, 0)
  for (const char of prefix) checksum = polymod(checksum, char.charCodeAt(0) & 31)
  for (const word of words) checksum = polymod(checksum, word)
  return checksum
}

/**
 * Packs bits of one width into another. Encoding pads the last item with zeros; decoding accepts only zero padding.
 */
const regroup = (items: Iterable<number>, from: number, to: number, pad: boolean): number[] | undefined => {
  const out: number[] = []
  let held = 0
  let bits = 0
  for (const item of items) {
    held = ((held << from) | item) & 0xfff
    for (bits += from; bits >= to; ) {
      bits -= to
      out.push((held >>> bits) & (2 ** to - 1))
    }
  }
  const rest = held & (2 ** bits - 1)
  if (pad) return bits > 0 ? [...out, rest << (to - bits)] : out
  return bits < from && rest === 0 ? out : undefined
}

/** Parses an address in lower case, as the chain writes it. */
export const parseAddress = (text: string): Address => {
  const refused = (): QuoinError =>
    new QuoinError('ERR_LIQUIDITY_VALUE', 'invalid bech32 address', { given: text.slice(0, 120) })
  const [, prefix = '', data] = /^([!-@[-~]{1,83})1([02-9ac-hj-np-z]{6,420})$/.exec(text) ?? []
  if (data === undefined) throw refused()
  const words = Array.from(data, char => ALPHABET.indexOf(char))
  const bytes = regroup(words.slice(0, -CHECKSUM_LENGTH), 5, 8, false)
  if (checksumOf(prefix, words) !== 1 || !bytes?.length || bytes.length > MAX_BYTES) throw refused()
  return { prefix, bytes: Uint8Array.from(bytes) }
}

export const formatAddress = ({ prefix, bytes }: Address): string => {
  const words = regroup(bytes, 8, 5, true)!
  const checksum = checksumOf(prefix, [...words, ...Array<number>(CHECKSUM_LENGTH).fill(0)]) ^ 1
  for (let i = CHECKSUM_LENGTH - 1; i >= 0; i--) words.push((checksum >>> (5 * i)) & 31)
  return `${prefix}1${words.map(word => ALPHABET[word]).join('')}`
}
