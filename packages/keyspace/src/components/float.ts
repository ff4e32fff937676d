/**
 * A float64 whose bytes sort as the numbers do (the score8 of the seeds): IEEE-754 bits with the sign bit flipped for
 * positive numbers and every bit flipped for negative ones. -0 is written as 0; NaN is refused.
 */
import { valueError } from '@quoin/primitives'
import { Codec, type Component, component } from '../codec.ts'
import { Language } from '../language/language.ts'
import { alt, between } from '../language/pattern.ts'

const scratch = new DataView(new ArrayBuffer(8))
const bytesOf = (hex: string): number[] => hex.match(/../g)!.map(pair => Number.parseInt(pair, 16))

const f64Codec = new Codec<number>({
  name: 'f64',
  phrase: 'sortable float64 encoding',
  // From -infinity to the greatest negative number, then from 0 to +infinity: no NaN, and no word for -0.
  language: Language.of(
    alt(
      between(bytesOf('000fffffffffffff'), bytesOf('7ffffffffffffffe')),
      between(bytesOf('8000000000000000'), bytesOf('fff0000000000000'))
    )
  ),
  order: 'bytes',
  orderName: 'numeric',
  put(value, target, offset) {
    if (typeof value !== 'number' || Number.isNaN(value))
      throw valueError('f64', value, 'a number other than NaN')
    scratch.setFloat64(0, value === 0 ? 0 : value)
    const high = scratch.getUint8(0)
    const flip = high & 0x80 ? 0xff : 0x00
    target[offset] = high ^ (flip | 0x80)
    for (let i = 1; i < 8; i++) target[offset + i] = scratch.getUint8(i) ^ flip
    return offset + 8
  },
  read(source, start) {
    const flip = source[start]! & 0x80 ? 0x00 : 0xff
    scratch.setUint8(0, source[start]! ^ (flip | 0x80))
    for (let i = 1; i < 8; i++) scratch.setUint8(i, source[start + i]! ^ flip)
    return scratch.getFloat64(0)
  },
  show: String
})

export const f64 = <const N extends string>(name: N): Component<N, number> => component(name, f64Codec)
