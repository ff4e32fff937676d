/** The bytes of messages: a growing buffer to write to, and a bounds-checked cursor to read from. */
import { QuoinError, toHex } from '@quoin/primitives'

const utf8 = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes UTF-8 strictly. */
export const decodeUtf8 = (bytes: Uint8Array): string => decoder.decode(bytes)

/** A growing buffer. */
export class Sink {
  bytes = new Uint8Array(256)
  length = 0

  #grow(more: number): void {
    if (this.length + more <= this.bytes.length) return
    const bytes = new Uint8Array(Math.max(this.bytes.length * 2, this.length + more))
    bytes.set(this.bytes.subarray(0, this.length))
    this.bytes = bytes
  }

  byte(byte: number): void {
    this.#grow(1)
    this.bytes[this.length++] = byte
  }

  varint(value: bigint): void {
    if (value < 0x80n && value >= 0n) {
      this.byte(Number(value))
      return
    }
    let rest = BigInt.asUintN(64, value)
    for (; rest >= 0x80n; rest >>= 7n) this.byte(Number(rest & 0x7fn) | 0x80)
    this.byte(Number(rest))
  }

  raw(bytes: Uint8Array): void {
    this.#grow(bytes.length)
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  ascii(text: string): void {
    this.#grow(text.length)
    for (let i = 0; i < text.length; i++) this.bytes[this.length++] = text.charCodeAt(i)
  }

  /** Nearly always ASCII, which needs no encoder. */
  utf8(text: string): void {
    const at = this.length
    this.#grow(text.length)
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code >= 0x80) {
        this.length = at
        this.raw(utf8.encode(text))
        return
      }
      this.bytes[this.length++] = code
    }
  }

  /** Writes the bytes of `write` after their length. The length is nearly always one byte, so one is reserved. */
  delimited(write: () => void): void {
    const at = this.length
    this.byte(0)
    write()
    const size = this.length - at - 1
    if (size < 0x80) {
      this.bytes[at] = size
      return
    }
    const extra = size < 0x4000 ? 1 : size < 0x200000 ? 2 : 3
    this.#grow(extra)
    this.bytes.copyWithin(at + 1 + extra, at + 1, this.length)
    const end = this.length + extra
    this.length = at
    this.varint(BigInt(size))
    this.length = end
  }
}

/** A cursor over the bytes of a message, or of an embedded one. */
export class Source {
  readonly #name: string
  readonly bytes: Uint8Array
  at: number
  end: number

  constructor(name: string, bytes: Uint8Array) {
    this.#name = name
    this.bytes = bytes
    this.at = 0
    this.end = bytes.length
  }

  error(reason: string): QuoinError {
    return new QuoinError('ERR_VALUE_DECODE', `${this.#name}: byte ${this.at}: ${reason}`, {
      bytes: toHex(this.bytes.subarray(0, 64)),
      offset: this.at
    })
  }

  /** Consumes the tag if it is next. Tags of these messages have one byte. */
  tag(tag: number): boolean {
    if (this.at >= this.end || this.bytes[this.at] !== tag) return false
    this.at++
    return true
  }

  varint(): bigint {
    const first = this.at < this.end ? this.bytes[this.at]! : 0x80
    if (first < 0x80) {
      this.at++
      return BigInt(first)
    }
    let value = 0n
    for (let shift = 0n; shift < 64n; shift += 7n) {
      if (this.at >= this.end) throw this.error('a varint is cut off')
      const byte = this.bytes[this.at]!
      if (shift === 63n && byte > 1) throw this.error('a varint of more than 64 bits')
      if (byte === 0 && shift > 0n) throw this.error('a varint is longer than it needs to be')
      this.at++
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw this.error('a varint of more than ten bytes')
  }

  /** Reads a length prefix and checks that as many bytes remain. */
  size(): number {
    const size = this.varint()
    if (size > BigInt(this.end - this.at)) throw this.error(`${size} bytes are said to follow`)
    return Number(size)
  }

  /** The next bytes as text if all are ASCII; otherwise nothing is consumed. */
  ascii(size: number): string | undefined {
    const { bytes, at } = this
    for (let i = at; i < at + size; i++) if (bytes[i]! >= 0x80) return undefined
    this.at += size
    // Below the limit on the number of arguments.
    return size <= 1024
      ? String.fromCharCode.apply(null, bytes.subarray(at, at + size) as unknown as number[])
      : decodeUtf8(bytes.subarray(at, at + size))
  }
}
