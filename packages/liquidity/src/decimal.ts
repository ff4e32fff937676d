/**
 * Decimals of the chain: integers of a fixed number of fraction digits, 18 in a `Dec` and 36 in a `BigDec`. Sums and
 * comparisons are those of bigint; the names of products and quotients state the rounding. Down is toward zero, up is
 * toward positive infinity; without a suffix it is half to even.
 */
import { QuoinError } from '@quoin/primitives'

/** A number times 10^18. */
export type Dec = bigint
/** A number times 10^36. */
export type BigDec = bigint

export const DEC = 10n ** 18n
export const BIG_DEC = DEC * DEC

/** The quotient toward positive infinity. The divisor is positive. */
export const divideUp = (a: bigint, b: bigint): bigint => {
  const quotient = a / b
  return quotient * b < a ? quotient + 1n : quotient
}

/** The quotient, half to even. The divisor is positive. */
const divideEven = (a: bigint, b: bigint): bigint => {
  if (a < 0n) return -divideEven(-a, b)
  const quotient = a / b
  const twice = (a - quotient * b) * 2n
  return twice > b || (twice === b && (quotient & 1n) === 1n) ? quotient + 1n : quotient
}

/** Products and quotients of decimals with one number of digits. */
const arithmetic = (digits: number) => {
  const unit = 10n ** BigInt(digits)
  const squared = unit * unit
  const text = new RegExp(`^(-?)(0|[1-9][0-9]{0,99})(?:\\.([0-9]{1,${digits}}))?$`)
  return {
    unit,
    digits,
    mul: (a: bigint, b: bigint): bigint => divideEven(a * b, unit),
    mulDown: (a: bigint, b: bigint): bigint => (a * b) / unit,
    mulUp: (a: bigint, b: bigint): bigint => divideUp(a * b, unit),
    /** Truncated to twice the digits before rounding, so a half may have been slightly more, as on the chain. */
    quo: (a: bigint, b: bigint): bigint => divideEven((a * squared) / b, unit),
    quoDown: (a: bigint, b: bigint): bigint => (a * unit) / b,
    quoUp: (a: bigint, b: bigint): bigint => divideUp(a * unit, b),
    /** Conversions from and to whole numbers. */
    whole: (integer: bigint): bigint => integer * unit,
    floor: (a: bigint): bigint => a / unit,
    ceil: (a: bigint): bigint => divideUp(a, unit),
    /** Parses strictly: digits with at most one point, a minus below zero, no more digits than fit. */
    parse: (given: string): bigint => {
      const [, minus, whole, fraction = ''] = text.exec(given) ?? []
      if (whole === undefined)
        throw new QuoinError('ERR_DECIMAL', `invalid decimal: expected at most ${digits} places`, {
          given: given.slice(0, 120)
        })
      const size = BigInt(whole) * unit + BigInt(fraction.padEnd(digits, '0'))
      return minus ? -size : size
    },
    /** All fraction digits, as the chain prints them: `1.500000000000000000`. */
    format: (a: bigint): string => {
      const padded = (a < 0n ? -a : a).toString().padStart(digits + 1, '0')
      return `${a < 0n ? '-' : ''}${padded.slice(0, -digits)}.${padded.slice(-digits)}`
    }
  }
}

/**
 * Decimals with 18 places, as `LegacyDec` of the Cosmos SDK.
 *
 * @example
 * dec.parse('0.002') // 2000000000000000n
 * dec.format(dec.parse('0.002')) // '0.002000000000000000'
 */
export const dec = arithmetic(18)
export const bigDec = arithmetic(36)

export const toBigDec = (a: Dec): BigDec => a * DEC
/** Truncates to 18 fraction digits. */
export const toDec = (a: BigDec): Dec => a / DEC
export const toDecUp = (a: BigDec): Dec => divideUp(a, DEC)

/** The largest integer whose square is not above `n`, by Newton's method from above. */
export const integerSqrt = (n: bigint): bigint => {
  if (n < 0n) throw new QuoinError('ERR_DECIMAL', 'no square root of a negative number', { n: n.toString() })
  if (n < 2n) return n
  // Doubles give the first 50 bits of the root; each step after that doubles them.
  const shift = Math.max(0, n.toString(16).length * 4 - 1000)
  const even = BigInt(shift + (shift & 1))
  let root = (BigInt(Math.ceil(Math.sqrt(Number(n >> even)) * (1 + 2 ** -50))) + 1n) << (even / 2n)
  while (true) {
    const next = (root + n / root) >> 1n
    if (next >= root) return root
    root = next
  }
}

const integerSqrtUp = (n: bigint): bigint => {
  const root = integerSqrt(n)
  return root * root < n ? root + 1n : root
}

/** The square root at 18 places, rounded up: its square is never below the number. */
export const sqrtDec = (a: Dec): Dec => integerSqrtUp(a * DEC)
/** The square root at 36 places, rounded up. */
export const sqrtBigDec = (a: BigDec): BigDec => integerSqrtUp(a * BIG_DEC)
