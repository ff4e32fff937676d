/**
 * Targets and work. A header's `bits` are its target in compact form: a mantissa of 23 bits with a sign, and how many
 * bytes the number has. The work of a header is how many hashes it takes on average to find one at its target.
 */

const SPACE = 1n << 256n

/** The number in compact form; undefined when it is zero, negative or has more than 256 bits: no target is. */
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

/** The compact form of a number, in which all but its first two or three bytes are lost. */
export const bitsOf = (target: bigint): number => {
  let length = Math.ceil(target.toString(16).length / 2)
  let mantissa = Number(length <= 3 ? target << BigInt(8 * (3 - length)) : target >> BigInt(8 * (length - 3)))
  // The highest bit of the mantissa is its sign.
  if (mantissa & 0x800000) {
    mantissa >>= 8
    length++
  }
  return length * 0x1000000 + mantissa
}

/** What a target is worth: 2^256 hashes, divided by how many of them are good enough. */
export const workOfTarget = (target: bigint): bigint => SPACE / (target + 1n)

/** The target of which this is the work, nearly: the inverse of `workOfTarget` but for rounding. */
export const targetOfWork = (work: bigint): bigint => (SPACE - work) / work

/** Networks at one difficulty ask for the same work again and again. */
let lastBits = 0
let lastWork = 0n

/** The work of a header with these bits; none if they are no target. */
export const workOf = (bits: number): bigint => {
  if (bits !== lastBits) {
    const target = targetOf(bits)
    lastWork = target === undefined ? 0n : workOfTarget(target)
    lastBits = bits
  }
  return lastWork
}
