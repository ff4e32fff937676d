/** Base58 and bech32 text. The proof covers alphabet and length; a checksum is checked where the text enters a system. */
import { BASE58 } from '@quoin/primitives'
import { type Component, component } from '../codec.ts'
import { chars, type Length, repeat, seq, word } from '../language/pattern.ts'
import { asciiBytes, asciiCodec } from './text.ts'

const FOREVER = Number.POSITIVE_INFINITY
const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const LOWER = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** Base58 text (no `0 O I l`). */
export const base58 = <const N extends string>(
  name: N,
  { min = 1, max = FOREVER }: Length = {}
): Component<N, string> =>
  component(name, asciiCodec('base58', 'base58 text', repeat(chars(BASE58), min, max)))

export interface Bech32Options extends Length {
  /** The part before the separator `1`, for example `osmo`. By default any lower-case letters and digits. */
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
