/**
 * Addresses and denominations as text. What is proved is the shape (alphabet and length); the checksum inside
 * an address is no property of key layouts and is checked where an address enters the system.
 */
import { type Component, component } from '../codec.ts'
import { chars, type Length, repeat, seq, word } from '../language/pattern.ts'
import { asciiBytes, asciiCodec } from './text.ts'

const FOREVER = Number.POSITIVE_INFINITY
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const LOWER = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** Base58 text (no `0 O I l`). */
export const base58 = <const N extends string>(
  name: N,
  { min = 1, max = FOREVER }: Length = {}
): Component<N, string> =>
  component(name, asciiCodec('base58', 'base58 text', repeat(chars(BASE58), min, max)))

/** A Bitcoin address: a version byte, a 20-byte hash and a checksum make 25 to 35 base58 characters. */
export const address = <const N extends string>(name: N): Component<N, string> =>
  component(name, addressCodec)

export interface Bech32Options extends Length {
  /** The part before the separator `1`, for example `osmo`. Any lower-case letters and digits unless given. */
  readonly hrp?: string
}

/** Lower-case bech32 text (BIP-173): the human-readable part, `1`, then data that ends in a checksum of six. */
export const bech32 = <const N extends string>(
  name: N,
  { hrp, ...length }: Bech32Options = {}
): Component<N, string> =>
  component(
    name,
    asciiCodec(
      'bech32',
      'bech32 address',
      seq(
        hrp === undefined ? repeat(chars(LOWER), 1, FOREVER) : word(asciiBytes('bech32 hrp', hrp)),
        chars('1'),
        repeat(chars(BECH32), 6, FOREVER)
      ),
      length
    )
  )

/** A Cosmos SDK coin denomination: a letter, then 2 to 127 of letters, digits and `/ : . _ -`. */
export const denom = <const N extends string>(name: N): Component<N, string> => component(name, denomCodec)

const addressCodec = asciiCodec<string>('base58', 'base58 address', repeat(chars(BASE58), 25, 35))

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const denomCodec = asciiCodec<string>(
  'denom',
  'denom',
  seq(chars(LETTERS), repeat(chars(`${LETTERS}0123456789/:._-`), 2, 127))
)
