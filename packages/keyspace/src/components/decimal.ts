/**
 * Unsigned integers as base-10 text without sign or leading zeros ("string encoding" in seed 004). Words do not sort
 * as numbers do, and a word may begin another (1 and 10), so it cannot end a scan prefix. For existing layouts; a new
 * one should use `u64`.
 */

import { valueError } from '@quoin/primitives'
import { type Codec, type Component, component } from '../codec.ts'
import { decimalTextCodec } from './decimal-text.ts'

export interface DecimalOptions {
  /** The width of the integer in bits; 64 by default. */
  readonly bits?: number
  /** The largest value, if less than the width allows. */
  readonly max?: bigint
}

const codecs = new Map<bigint, Codec<bigint>>()

const decimalCodec = (max: bigint): Codec<bigint> => {
  const codec = codecs.get(max) ?? decimalTextCodec({ bits: 256, max })
  codecs.set(max, codec)
  return codec
}

export const decimal = <const N extends string>(
  name: N,
  { bits = 64, max }: DecimalOptions = {}
): Component<N, bigint> => {
  if (!Number.isInteger(bits) || bits < 1 || bits > 256)
    throw valueError('decimal bits', bits, 'from 1 to 256')
  const widest = 2n ** BigInt(bits) - 1n
  if (max !== undefined && (max < 0n || max > widest))
    throw valueError('decimal max', max, `from 0 to ${widest}`)
  return component(name, decimalCodec(max ?? widest))
}
