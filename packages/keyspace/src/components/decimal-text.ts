/**
 * Numbers as base-10 text: with a sign, padded with zeros to a width, with a fixed number of decimals. Padded numbers
 * sort as numbers up to the width, and longer ones by length; signed ones do not sort.
 */
import { readAscii, valueError } from '@quoin/primitives'
import { Codec } from '../codec.ts'
import { Language } from '../language/language.ts'
import { alt, between, chars, decimalUpTo, type Pattern, range, repeat, seq } from '../language/pattern.ts'
import { samplesWithin } from './number-order.ts'

export interface DecimalTextOptions {
  /** The width of the integer in bits; 64 by default. */
  readonly bits?: number
  readonly max?: bigint
  readonly signed?: boolean
  /** The least number of digits, filled with zeros. */
  readonly width?: number
  /** The number of digits after the point. Values count units of the last one. */
  readonly decimals?: number
}

export const decimalTextCodec = (options: DecimalTextOptions): Codec<bigint> => {
  const { bits = 64, signed = false, width = 1, decimals = 0 } = options
  const widest = 2n ** BigInt(signed ? bits - 1 : bits) - 1n
  const max = options.max ?? widest
  if (max < 0n || max > widest) throw valueError('decimal max', max, `from 0 to ${widest}`)
  if (!Number.isInteger(width) || width < 1 || width > 80)
    throw valueError('decimal width', width, 'from 1 to 80')
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 40)
    throw valueError('decimal decimals', decimals, 'from 0 to 40')
  const least = width + decimals
  const low = signed ? -max : 0n
  const digits = (value: bigint): string => {
    const text = (value < 0n ? -value : value).toString().padStart(least, '0')
    return decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`
  }
  const show = (value: bigint): string => `${value < 0n ? '-' : ''}${digits(value)}`
  const magnitude = (zero: boolean): Pattern => {
    const words = paddedUpTo(max, least, zero)
    return decimals === 0 ? words : pointed(max, least, decimals, zero)
  }
  return new Codec<bigint>({
    name: 'decimal',
    phrase: 'string encoding',
    language: Language.of(
      signed && max > 0n ? alt(magnitude(true), seq(chars('-'), magnitude(false))) : magnitude(true)
    ),
    order: signed && max > 0n ? (max > 1n ? [-2n, -1n] : 'bytes') : 'shortlex',
    orderName: 'numeric',
    samples: samplesWithin(low, max),
    text(value) {
      if (typeof value !== 'bigint' || value < low || value > max)
        throw valueError('decimal', value, `a bigint from ${low} to ${max}`)
      return show(value)
    },
    read(source, start, end) {
      const text = readAscii(source, start, end).replace('.', '')
      return text.startsWith('-') ? -BigInt(text.slice(1)) : BigInt(text)
    },
    show
  })
}

/** Digits of the numbers up to `max`, at least `least` of them; without 0 unless `zero`. */
const paddedUpTo = (max: bigint, least: number, zero: boolean): Pattern => {
  const digits = Array.from(max.toString(), digit => digit.charCodeAt(0))
  const low = Array.from((zero ? '0' : '1').padStart(least, '0'), digit => digit.charCodeAt(0))
  if (least === 1 && zero) return decimalUpTo(max)
  if (digits.length <= least)
    return between(low, [...Array.from({ length: least - digits.length }, () => 0x30), ...digits], 0x30, 0x39)
  const longer = Array.from({ length: digits.length - least - 1 }, (_, i) =>
    seq(range(0x31, 0x39), repeat(range(0x30, 0x39), least + i))
  )
  const nines = low.map(() => 0x39)
  const first = [0x31, ...digits.slice(1).map(() => 0x30)]
  return alt(between(low, nines, 0x30, 0x39), ...longer, between(first, digits, 0x30, 0x39))
}

/** The same digits with a point before the last ones. */
const pointed = (max: bigint, least: number, decimals: number, zero: boolean): Pattern => {
  const unit = 10n ** BigInt(decimals)
  const fraction = repeat(range(0x30, 0x39), decimals)
  const [whole, part] = [max / unit, max % unit]
  const integer = least - decimals
  const codes = (value: bigint): number[] =>
    Array.from(value.toString().padStart(decimals, '0'), digit => digit.charCodeAt(0))
  const point = chars('.')
  const text = (value: bigint): Pattern =>
    seq(...Array.from(value.toString().padStart(integer, '0'), digit => chars(digit)))
  const zeros = text(0n)
  const last = seq(
    text(whole),
    point,
    between(codes(whole === 0n && !zero ? 1n : 0n), codes(part), 0x30, 0x39)
  )
  if (whole === 0n) return last
  const options = [last]
  // Numbers below 1, then numbers whose whole part is from 1 to the greatest but one.
  options.push(seq(zeros, point, zero ? fraction : between(codes(1n), codes(unit - 1n), 0x30, 0x39)))
  if (whole > 1n) options.push(seq(paddedUpTo(whole - 1n, integer, false), point, fraction))
  return alt(...options)
}
