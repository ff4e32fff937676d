/** Key components of the chain's concentrated-liquidity module: ticks and denominations. */
import { asciiCodec, Codec, type Component, component, Language, pattern } from '@quoin/keyspace'
import { valueError } from '@quoin/primitives'

const { alt, any, chars, range, repeat, seq } = pattern

const BELOW_ZERO = 0x05
const NOT_BELOW_ZERO = 0x06
const eight = new DataView(new ArrayBuffer(8))

const tickCodec = new Codec<bigint>({
  name: 'tick9',
  phrase: '9 byte signed tick encoding',
  language: Language.of(
    alt(
      seq(range(BELOW_ZERO, BELOW_ZERO), range(0x80, 0xff), repeat(any, 7)),
      seq(range(NOT_BELOW_ZERO, NOT_BELOW_ZERO), range(0x00, 0x7f), repeat(any, 7))
    )
  ),
  order: 'bytes',
  orderName: 'numeric',
  put(value, target, offset) {
    if (typeof value !== 'bigint' || BigInt.asIntN(64, value) !== value)
      throw valueError('tick9', value, 'a bigint from -2^63 to 2^63-1')
    eight.setBigInt64(0, value)
    target[offset] = value < 0n ? BELOW_ZERO : NOT_BELOW_ZERO
    for (let i = 0; i < 8; i++) target[offset + 1 + i] = eight.getUint8(i)
    return offset + 9
  },
  read(source, start) {
    for (let i = 0; i < 8; i++) eight.setUint8(i, source[start + 1 + i]!)
    return eight.getBigInt64(0)
  },
  show: String
})

/** Seed 004, 0x01: a sign byte (05 below zero, 06 otherwise) before the eight bytes of the two's complement. */
export const tick9 = <const N extends string>(name: N): Component<N, bigint> => component(name, tickCodec)

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const denomCodec = asciiCodec<string>(
  'denom',
  'denom',
  seq(chars(LETTERS), repeat(chars(`${LETTERS}0123456789/:._-`), 2, 127))
)

/** A Cosmos SDK coin denomination: a letter, then 2 to 127 of letters, digits and `/ : . _ -`. */
export const denom = <const N extends string>(name: N): Component<N, string> => component(name, denomCodec)
