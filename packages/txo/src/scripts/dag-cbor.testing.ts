/** Writes DAG-CBOR: the one form of each value. */

import { CborLink, type CborValue } from './dag-cbor.ts'
import { joined, utf8 } from './scripts.testing.ts'

const cbor = (value: CborValue): Uint8Array => {
  if (typeof value === 'bigint') return value < 0n ? head(1, -1n - value) : head(0, value)
  if (typeof value === 'number') {
    const bytes = new Uint8Array(9).fill(0xfb, 0, 1)
    new DataView(bytes.buffer).setFloat64(1, value)
    return bytes
  }
  if (typeof value === 'string') return joined(head(3, BigInt(utf8(value).length)), utf8(value))
  if (typeof value === 'boolean') return Uint8Array.of(value ? 0xf5 : 0xf4)
  if (value === null) return Uint8Array.of(0xf6)
  if (value instanceof Uint8Array) return joined(head(2, BigInt(value.length)), value)
  if (value instanceof CborLink) return joined(Uint8Array.of(0xd8, 42), cbor(value.bytes))
  if (value instanceof Map) {
    const pairs = [...(value as ReadonlyMap<string, CborValue>)].map(
      ([key, each]) => [cbor(key), cbor(each)] as const
    )
    pairs.sort(([a], [b]) => Buffer.compare(a, b))
    return joined(head(5, BigInt(pairs.length)), ...pairs.flat())
  }
  const values = value as readonly CborValue[]
  return joined(head(4, BigInt(values.length)), ...values.map(cbor))
}

export const cborMap = (fields: Readonly<Record<string, CborValue>>): Uint8Array =>
  cbor(new Map(Object.entries(fields)))

const head = (major: number, argument: bigint): Uint8Array => {
  if (argument < 24n) return Uint8Array.of((major << 5) | Number(argument))
  const log = argument < 1n << 8n ? 0 : argument < 1n << 16n ? 1 : argument < 1n << 32n ? 2 : 3
  const size = 1 << log
  const bytes = Uint8Array.from({ length: size }, (_, i) =>
    Number((argument >> BigInt(8 * (size - 1 - i))) & 0xffn)
  )
  return joined(Uint8Array.of((major << 5) | (24 + log)), bytes)
}
