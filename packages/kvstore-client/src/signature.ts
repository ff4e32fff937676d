/**
 * Signatures of tokens as @bsv/sdk reads them: DER whose integers may lack the zero byte that keeps them positive.
 */

const SEQUENCE = 0x30
const INTEGER = 0x02
/** Lengths of more than one byte begin here. */
const LONG_LENGTH = 0x80

/** The signature in strict DER; undefined when @bsv/sdk does not read it either. */
export const strictDer = (signature: Uint8Array): Uint8Array | undefined => {
  if (signature[0] !== SEQUENCE || signature.length >= LONG_LENGTH) return undefined
  if (signature[1] !== signature.length - 2) return undefined
  const r = integerAt(signature, 2)
  const s = r && integerAt(signature, 4 + signature[3]!)
  if (!r || !s || 6 + signature[3]! + signature[5 + signature[3]!]! !== signature.length) return undefined
  const body = [...derOf(r), ...derOf(s)]
  return Uint8Array.of(SEQUENCE, body.length, ...body)
}

/** The unsigned big-endian bytes of an integer. */
const integerAt = (bytes: Uint8Array, at: number): Uint8Array | undefined => {
  const length = bytes[at + 1]
  if (bytes[at] !== INTEGER || length === undefined || length === 0) return undefined
  const integer = bytes.subarray(at + 2, at + 2 + length)
  if (integer.length < length) return undefined
  if (integer[0] !== 0) return integer
  // A leading zero must be needed to keep the number positive.
  return integer.length > 1 && integer[1]! >= 0x80 ? integer.subarray(1) : undefined
}

const derOf = (integer: Uint8Array): number[] => {
  const padded = integer[0]! >= 0x80 ? [0, ...integer] : [...integer]
  return [INTEGER, padded.length, ...padded]
}
