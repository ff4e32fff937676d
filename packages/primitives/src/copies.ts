/**
 * Allocation of short-lived byte arrays: copies of rows that a database lends, keys, texts. V8 keeps up to 64 bytes with
 * the array itself. Longer memory takes longer to get than to fill, so arrays of a middling length share slabs, as
 * Buffers of Node do.
 */
const ON_HEAP = 64
const SLAB = 8192
const MOST = SLAB / 4

let slab = new Uint8Array(0)
let used = SLAB

/** Bytes of any value. A reference to them keeps a whole slab alive. */
export const allocateBytes = (length: number): Uint8Array => {
  if (length <= ON_HEAP || length > MOST) return new Uint8Array(length)
  if (used + length > SLAB) {
    slab = new Uint8Array(SLAB)
    used = 0
  }
  const bytes = slab.subarray(used, used + length)
  // Views of eight bytes at a time begin at a multiple of eight.
  used = (used + length + 7) & ~7
  return bytes
}

export const copyOfPart = (source: Uint8Array, start: number, end: number): Uint8Array => {
  const length = end - start
  if (length <= ON_HEAP || length > MOST) return source.slice(start, end)
  const copy = allocateBytes(length)
  copy.set(source.subarray(start, end))
  return copy
}

export const copyOfRow = (row: Uint8Array): Uint8Array => copyOfPart(row, 0, row.length)
