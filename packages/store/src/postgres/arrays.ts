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

export const binaryArray = (type: ColumnType, values: readonly ColumnValue[]): Buffer => {
  let size = HEADER
  for (const value of values) size += 4 + lengthOf(type, value)
  const array = Buffer.allocUnsafe(size)
  array.writeInt32BE(values.length > 0 ? 1 : 0, 0)
  array.writeInt32BE(values.includes(null) ? 1 : 0, 4)
  array.writeInt32BE(OIDS[type], 8)
  if (values.length === 0) return array.subarray(0, 12)
  array.writeInt32BE(values.length, 12)
  // The index of the first element.
  array.writeInt32BE(1, 16)
  let at = HEADER
  for (const value of values) {
    const length = lengthOf(type, value)
    array.writeInt32BE(value === null ? NULL_LENGTH : length, at)
    at += 4
    if (value instanceof Uint8Array) array.set(value, at)
    else if (typeof value === 'string') array.write(value, at)
    else if (value !== null && type === 'int4') array.writeInt32BE(value, at)
    else if (value !== null) array.writeDoubleBE(value, at)
    at += length
  }
  return array
}

const lengthOf = (type: ColumnType, value: ColumnValue): number => {
  if (value === null) return 0
  if (value instanceof Uint8Array) return value.length
  if (typeof value === 'string') return Buffer.byteLength(value)
  return type === 'int4' ? 4 : 8
}
