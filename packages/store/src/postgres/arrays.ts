/**
 * Arrays as PostgreSQL receives them in binary: `array_recv` of src/backend/utils/adt/arrayfuncs.c. Text arrays of bytes,
 * in hexadecimal, cost the client several times as much.
 */
export type ColumnType = 'bytea' | 'float8' | 'int4' | 'text'
export type ColumnValue = Uint8Array | number | string | null

/** From pg_type.dat. */
const OIDS: Readonly<Record<ColumnType, number>> = { bytea: 17, float8: 701, int4: 23, text: 25 }
const HEADER = 20
const NULL_LENGTH = -1

/** Arrays are written here first, since their lengths are not known. */
let scratch = Buffer.allocUnsafe(64 * 1024)

/** An array of the values of items. */
export const binaryArray = <Item>(
  type: ColumnType,
  items: readonly Item[],
  encode: (item: Item) => ColumnValue
): Buffer => {
  let hasNull = 0
  let at = HEADER
  for (const item of items) {
    const value = encode(item)
    reserve(at, 12 + (typeof value === 'number' || value === null ? 0 : 3 * value.length))
    let length = NULL_LENGTH
    if (value instanceof Uint8Array) {
      length = value.length
      scratch.set(value, at + 4)
    } else if (typeof value === 'string') length = scratch.write(value, at + 4)
    else if (value === null) hasNull = 1
    else if (type === 'int4') length = scratch.writeInt32BE(value, at + 4) - at - 4
    else length = scratch.writeDoubleBE(value, at + 4) - at - 4
    scratch.writeInt32BE(length, at)
    at += 4 + Math.max(length, 0)
  }
  scratch.writeInt32BE(items.length > 0 ? 1 : 0, 0)
  scratch.writeInt32BE(hasNull, 4)
  scratch.writeInt32BE(OIDS[type], 8)
  scratch.writeInt32BE(items.length, 12)
  // The index of the first element.
  scratch.writeInt32BE(1, 16)
  const array = Buffer.from(scratch.subarray(0, items.length > 0 ? at : 12))
  if (scratch.length > LARGEST) scratch = Buffer.allocUnsafe(LARGEST)
  return array
}

export const bytesArray = (values: readonly Uint8Array[]): Buffer => binaryArray('bytea', values, itself)

const itself = (value: Uint8Array): Uint8Array => value

/** Kept between arrays. */
const LARGEST = 1024 * 1024

const reserve = (at: number, more: number): void => {
  if (at + more <= scratch.length) return
  const larger = Buffer.allocUnsafe(2 * (at + more))
  scratch.copy(larger, 0, 0, at)
  scratch = larger
}
