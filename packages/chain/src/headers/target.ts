/**
 * Targets and work. `bits` is a target in compact form: a signed mantissa of 24 bits, and the length of the number in
 * bytes. Work is the expected number of hashes for one header at its target.
 */

const SPACE = 1n << 256n

/** Target in compact form; undefined for zero, negative numbers and more than 256 bits, which are not targets. */
export const targetOf = (bits: number): bigint | undefined => {
  const length = bits >>> 24
  const mantissa = bits & 0x7fffff
  if (mantissa === 0 || bits & 0x800000) return undefined
  if (length > 34 || (length === 34 && mantissa > 0xff) || (length === 33 && mantissa > 0xffff))
    return undefined
  const target =
    length <= 3 ? BigInt(mantissa >> (8 * (3 - length))) : BigInt(mantissa) << BigInt(8 * (length - 3))
  return target === 0n ? undefined : target
}

/** Compact form of a number, which keeps its first two or three bytes. */
export const bitsOf = (target: bigint): number => {
  let length = Math.ceil(target.toString(16).length / 2)
  let mantissa = Number(length <= 3 ? target << BigInt(8 * (3 - length)) : target >> BigInt(8 * (length - 3)))
  // Bit 23 of the mantissa is its sign.
  if (mantissa & 0x800000) {
    mantissa >>= 8
    length++
  }
  return length * 0x1000000 + mantissa
}

/** Expected hashes for a target: 2^256 divided by the number of valid hashes. */
export const workOfTarget = (target: bigint): bigint => SPACE / (target + 1n)

/** Target of an amount of work: the inverse of `workOfTarget` but for rounding. */
export const targetOfWork = (work: bigint): bigint => (SPACE - work) / work

/** Memoizes the last bits, since consecutive headers mostly share them. */
let lastBits = 0
let lastWork = 0n

/** Work of a header with these bits; 0 if they are not a target. */
export const workOf = (bits: number): bigint => {
  if (bits !== lastBits) {
    const target = targetOf(bits)
    lastWork = target === undefined ? 0n : workOfTarget(target)
    lastBits = bits
  }
  return lastWork
}
