/**
 * Block headers: 80 bytes and their fields. A hash is compared with its target as a little-endian number, which is why
 * display order is the reverse.
 */
import { type ErrorCode, QuoinError, toHex } from '@quoin/primitives'
import { sha256d } from '../hash.ts'
import { targetOf } from './target.ts'

export const HEADER_LENGTH = 80
const MAX_U32 = 0xffffffff

export interface HeaderParts {
  readonly version: number
  /** Hash of the previous header. */
  readonly previous: Uint8Array
  readonly merkleRoot: Uint8Array
  /** Unix seconds, stated by the miner. */
  readonly time: number
  /** Target in compact form. */
  readonly bits: number
  readonly nonce: number
}

/** A header as views of its bytes. */
export class Header implements HeaderParts {
  readonly raw: Uint8Array
  #hash: Uint8Array | undefined

  /** Use `parseHeader`, `readHeaders` or `writeHeader`. */
  constructor(raw: Uint8Array) {
    this.raw = raw
  }

  /** 32 bytes in hash order. */
  get hash(): Uint8Array {
    this.#hash ??= sha256d(this.raw)
    return this.#hash
  }

  get version(): number {
    return u32(this.raw, 0)
  }
  get previous(): Uint8Array {
    return this.raw.subarray(4, 36)
  }
  get merkleRoot(): Uint8Array {
    return this.raw.subarray(36, 68)
  }
  get time(): number {
    return u32(this.raw, 68)
  }
  get bits(): number {
    return u32(this.raw, 72)
  }
  get nonce(): number {
    return u32(this.raw, 76)
  }

  /** Whether the hash meets the header's own target. `checkHeader` checks that target. */
  get hasProofOfWork(): boolean {
    const target = targetOf(this.bits)
    return target !== undefined && BigInt(`0x${formatHash(this.hash)}`) <= target
  }
}

/** A header with its height and cumulative work. */
export interface ChainHeader {
  readonly header: Header
  readonly height: number
  /** Work of this header and all before it, from genesis or the checkpoint. */
  readonly work: bigint
}

/** Faster than a DataView, whose construction costs more than the read. */
const u32 = (bytes: Uint8Array, at: number): number =>
  bytes[at]! + bytes[at + 1]! * 0x100 + bytes[at + 2]! * 0x10000 + bytes[at + 3]! * 0x1000000

const plain = (bytes: Uint8Array): Uint8Array =>
  bytes.constructor === Uint8Array ? bytes : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export const parseHeader = (bytes: Uint8Array): Header => {
  if (!(bytes instanceof Uint8Array) || bytes.length !== HEADER_LENGTH) {
    throw formatError(`invalid length of a header: expected ${HEADER_LENGTH} bytes`, bytes?.length)
  }
  return new Header(plain(bytes))
}

/** Headers of 80 bytes, as views: do not change the bytes afterwards. */
export const readHeaders = (bytes: Uint8Array): Header[] => {
  if (!(bytes instanceof Uint8Array) || bytes.length % HEADER_LENGTH !== 0) {
    throw formatError(`invalid length of headers: expected ${HEADER_LENGTH} bytes each`, bytes?.length)
  }
  const source = plain(bytes)
  return Array.from(
    { length: source.length / HEADER_LENGTH },
    (_, i) => new Header(source.subarray(i * HEADER_LENGTH, (i + 1) * HEADER_LENGTH))
  )
}

export const writeHeader = ({ version, previous, merkleRoot, time, bits, nonce }: HeaderParts): Header => {
  const raw = new Uint8Array(HEADER_LENGTH)
  const view = new DataView(raw.buffer)
  for (const [at, number] of [
    [0, version],
    [68, time],
    [72, bits],
    [76, nonce]
  ] as const) {
    if (!Number.isInteger(number) || number < 0 || number > MAX_U32) {
      throw formatError('invalid number in a header: expected 32 bits', number)
    }
    view.setUint32(at, number, true)
  }
  for (const [at, hash] of [
    [4, previous],
    [36, merkleRoot]
  ] as const) {
    if (!(hash instanceof Uint8Array) || hash.length !== 32)
      throw formatError('invalid length of a hash: expected 32 bytes', hash?.length)
    raw.set(hash, at)
  }
  return new Header(raw)
}

/** Display hex of a block hash or merkle root: 64 digits, reversed. */
export const formatHash = (hash: Uint8Array): string => toHex(Uint8Array.from(hash).reverse())

export const parseHash = (text: string, code: ErrorCode = 'ERR_HEADER_FORMAT'): Uint8Array => {
  if (typeof text !== 'string' || !/^[0-9a-fA-F]{64}$/.test(text)) {
    throw new QuoinError(code, 'invalid hash: expected 64 hexadecimal digits', { given: text })
  }
  return Uint8Array.from({ length: 32 }, (_, i) => Number.parseInt(text.slice(62 - 2 * i, 64 - 2 * i), 16))
}

/** JSON form of a header at Chaintracks services. */
export interface HeaderJson {
  readonly height: number
  readonly hash: string
  readonly version: number
  readonly prevHash: string
  readonly merkleRoot: string
  readonly time: number
  readonly bits: number
  readonly nonce: number
}

export const headerJson = ({ header, height }: Pick<ChainHeader, 'header' | 'height'>): HeaderJson => ({
  height,
  hash: formatHash(header.hash),
  version: header.version,
  prevHash: formatHash(header.previous),
  merkleRoot: formatHash(header.merkleRoot),
  time: header.time,
  bits: header.bits,
  nonce: header.nonce
})

const formatError = (message: string, given: unknown): QuoinError =>
  new QuoinError('ERR_HEADER_FORMAT', `${message}, not ${given}`, { given })
