/** How many bytes lengths take in their shortest form, without writing them. */

export const varintLength = (value: number): number =>
  value < 0xfd ? 1 : value <= 0xffff ? 3 : value <= 0xffffffff ? 5 : 9

/** Of bytes with their length in front. */
export const sizedLength = ({ length }: Uint8Array): number => varintLength(length) + length
