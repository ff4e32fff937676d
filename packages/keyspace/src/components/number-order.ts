/**
 * The order of integer encodings, decided at the places where it can change. An encoding that orders all neighbours
 * n and n + 1 orders all numbers. Bytes count up with the numbers but where a digit carries or the form of the words
 * changes, and each carry of a digit has the same effect: so only the first carries of each digit are compared.
 */
import { compareBytes } from '@quoin/primitives'

type Encode = (value: bigint) => ArrayLike<number> & Iterable<number>

/** Two numbers, the smaller first, whose bytes sort the other way; undefined when all sort as numbers. */
export const disorderOf = (
  encode: Encode,
  low: bigint,
  high: bigint,
  more: readonly bigint[] = []
): readonly [bigint, bigint] | undefined => {
  const bytes = (value: bigint): Uint8Array => Uint8Array.from(encode(value))
  const isWrong = (a: bigint, b: bigint): boolean =>
    a < b && a >= low && b <= high && compareBytes(bytes(a), bytes(b)) > 0
  // 1 and 256 persuade more than 255 and 256, where both are wrong.
  for (const [a, b] of FAMILIAR) if (isWrong(a, b)) return [a, b]
  const carries = POWERS.flatMap(power => {
    const first = (low / power) * power
    return [first, first + power, first + 2n * power]
  })
  for (const edge of [...POWERS, ...carries, ...more]) {
    for (const a of [edge - 1n, -edge - 1n]) if (isWrong(a, a + 1n)) return [a, a + 1n]
  }
  return undefined
}

/** Pairs that people recognise. */
const FAMILIAR: readonly (readonly [bigint, bigint])[] = [
  [-1n, 1n],
  [1n, 256n],
  [2n, 10n],
  [-2n, -1n]
]

/** Digits of encodings have 7 or 8 bits: a carry is at a multiple of a power of two. */
const POWERS: readonly bigint[] = Array.from({ length: 257 }, (_, bits) => 2n ** BigInt(bits))

/** Familiar numbers within bounds. */
export const samplesWithin = (low: bigint, high: bigint): readonly bigint[] =>
  [1n, 10n, 2n, 12n, 100n, 256n, 21n, -1n, -2n].filter(value => value >= low && value <= high)
