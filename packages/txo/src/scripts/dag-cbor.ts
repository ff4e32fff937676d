/**
 * DAG-CBOR (IPLD), strictly: a reader of maps for the payloads of BRC-162. Each value has one encoding, so bytes in any
 * other form are no map at all: definite lengths, the shortest heads, text keys in the order of their lengths and then of
 * their bytes, floats of 64 bits that are finite, no tag but 42, and nothing behind the map.
 */
import { isUtf8 } from 'node:buffer'

export type CborValue =
  | bigint
  | number
  | string
  | boolean
  | null
  | Uint8Array
  | readonly CborValue[]
  | CborMap
  | CborLink
export type CborMap = ReadonlyMap<string, CborValue>
/** A CID link: the bytes behind tag 42. */
export class CborLink {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}

/** Deeper payloads carry no attributes. */
const MAX_DEPTH = 64

const CID_TAG = 42n
const FLOAT_64 = 27

/** Undefined for bytes that are not one map in strict DAG-CBOR. */
export const readDagCborMap = (bytes: Uint8Array): CborMap | undefined => {
  const reader = new CborReader(bytes)
  const value = reader.value(0)
  return value instanceof Map && reader.isAtEnd ? value : undefined
}

/** Each method answers undefined for bytes that are not in the one form. */
class CborReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  value(depth: number): CborValue | undefined {
    if (depth > MAX_DEPTH || this.isAtEnd) return undefined
    const head = this.#bytes[this.#at++]!
    const [major, info] = [head >> 5, head & 31]
    if (major === 7) return this.#simple(info)
    const argument = this.#argument(info)
    if (argument === undefined) return undefined
    switch (major) {
      case 0:
        return argument
      case 1:
        return -1n - argument
      case 2:
        return this.#take(argument)
      case 3:
        return this.#text(argument)
      case 4:
        return this.#list(argument, depth)
      case 5:
        return this.#map(argument, depth)
      default:
        return argument === CID_TAG ? this.#link(depth) : undefined
    }
  }

  #simple(info: number): CborValue | undefined {
    if (info === 20 || info === 21) return info === 21
    if (info === 22) return null
    if (info !== FLOAT_64 || this.#at + 8 > this.#bytes.length) return undefined
    const float = this.#view.getFloat64(this.#at)
    this.#at += 8
    return Number.isFinite(float) ? float : undefined
  }

  /** The number in a head, in the shortest form only. */
  #argument(info: number): bigint | undefined {
    if (info < 24) return BigInt(info)
    const size = 1 << (info - 24)
    if (info > 27 || this.#at + size > this.#bytes.length) return undefined
    let argument = 0n
    for (let i = 0; i < size; i++) argument = (argument << 8n) | BigInt(this.#bytes[this.#at++]!)
    const least = size === 1 ? 24n : 1n << BigInt(size * 4)
    return argument >= least ? argument : undefined
  }

  #take(length: bigint): Uint8Array | undefined {
    const start = this.#at
    if (length > BigInt(this.#bytes.length - start)) return undefined
    this.#at += Number(length)
    return this.#bytes.subarray(start, this.#at)
  }

  #text(length: bigint): string | undefined {
    const bytes = this.#take(length)
    return bytes && isUtf8(bytes) ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) : undefined
  }

  #list(length: bigint, depth: number): CborValue | undefined {
    const values: CborValue[] = []
    for (let i = 0n; i < length; i++) {
      const value = this.value(depth + 1)
      if (value === undefined) return undefined
      values.push(value)
    }
    return values
  }

  #map(length: bigint, depth: number): CborMap | undefined {
    const values = new Map<string, CborValue>()
    let before: Uint8Array | undefined
    for (let i = 0n; i < length; i++) {
      const start = this.#at
      const key = this.value(depth + 1)
      if (typeof key !== 'string') return undefined
      const bytes = this.#bytes.subarray(start, this.#at)
      // Heads of longer keys are greater, so the encoded keys ascend as DAG-CBOR orders them.
      if (before && Buffer.compare(before, bytes) >= 0) return undefined
      before = bytes
      const value = this.value(depth + 1)
      if (value === undefined) return undefined
      values.set(key, value)
    }
    return values
  }

  #link(depth: number): CborLink | undefined {
    const bytes = this.value(depth + 1)
    return bytes instanceof Uint8Array && bytes.length > 1 && bytes[0] === 0 ? new CborLink(bytes) : undefined
  }
}
