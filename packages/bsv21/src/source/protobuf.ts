/**
 * The part of protobuf that JungleBus and Centrifuge use: varints and length-delimited fields. Untrusted messages are read
 * within their bounds, field by field; unknown fields are skipped, as the format requires.
 */
import { QuoinError } from '@quoin/primitives'

const VARINT = 0
const FIXED64 = 1
const DELIMITED = 2
const FIXED32 = 5

/** The longest varint: ten groups of seven bits. */
const MAX_VARINT = 10
const MAX_U32 = 0xffffffff
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/** A cursor over the fields of a message: `next` advances, and the field is read or skipped. */
export class FieldReader {
  readonly #bytes: Uint8Array
  #at = 0
  #wire = VARINT

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** The number of the next field; 0 at the end. */
  next(): number {
    if (this.#at >= this.#bytes.length) return 0
    const tag = this.#varint()
    this.#wire = tag % 8
    const number = Math.floor(tag / 8)
    if (tag > MAX_U32 || number === 0) throw this.#error('no number of a field', { tag })
    return number
  }

  u32(): number {
    const value = this.u53()
    if (value > MAX_U32) throw this.#error('a number of more than 32 bits', { value })
    return value
  }

  /** A 64-bit number that fits a `number`. */
  u53(): number {
    this.#expect(VARINT)
    return this.#varint()
  }

  bool(): boolean {
    return this.u53() !== 0
  }

  /** A view. */
  bytes(): Uint8Array {
    this.#expect(DELIMITED)
    return this.delimited()
  }

  text(): string {
    const bytes = this.bytes()
    try {
      return decoder.decode(bytes)
    } catch (cause) {
      throw this.#error('a text that is not UTF-8', { cause })
    }
  }

  skip(): void {
    if (this.#wire === VARINT) this.#skipVarint()
    else if (this.#wire === DELIMITED) this.delimited()
    else if (this.#wire === FIXED64) this.#take(8)
    else if (this.#wire === FIXED32) this.#take(4)
    else throw this.#error('an unknown type of field', { wire: this.#wire })
  }

  /** A view of length-prefixed bytes without a field: the framing of messages. */
  delimited(): Uint8Array {
    const start = this.#take(this.#varint())
    return this.#bytes.subarray(start, this.#at)
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  #expect(wire: number): void {
    if (this.#wire !== wire)
      throw this.#error('a field of another type', { wire: this.#wire, expected: wire })
  }

  #varint(): number {
    let value = 0
    for (let i = 0, scale = 1; i < MAX_VARINT; i++, scale *= 128) {
      const byte = this.#bytes[this.#take(1)]!
      value += (byte & 0x7f) * scale
      if (value > Number.MAX_SAFE_INTEGER) throw this.#error('a number of more than 53 bits')
      if (byte < 0x80) return value
    }
    throw this.#error('a number that does not end')
  }

  /** A skipped varint may have all 64 bits. */
  #skipVarint(): void {
    for (let i = 0; i < MAX_VARINT; i++) if (this.#bytes[this.#take(1)]! < 0x80) return
    throw this.#error('a number that does not end')
  }

  #take(length: number): number {
    const start = this.#at
    if (length > this.#bytes.length - start) throw this.#error('the bytes end too early', { wanted: length })
    this.#at = start + length
    return start
  }

  #error(message: string, details: Record<string, unknown> = {}): QuoinError {
    return new QuoinError('ERR_SOURCE_FORMAT', message, { offset: this.#at, ...details })
  }
}

/** Writes the fields of a message. Default values (0, false, empty) are omitted, as in proto3. */
export class FieldWriter {
  readonly #parts: Uint8Array[] = []

  u64(field: number, value: number | boolean): this {
    if (value) this.#parts.push(varint(field * 8 + VARINT), varint(Number(value)))
    return this
  }

  bytes(field: number, value: Uint8Array): this {
    if (value.length > 0) this.#delimited(field, value)
    return this
  }

  text(field: number, value: string): this {
    return this.bytes(field, encoder.encode(value))
  }

  /** A nested message; an empty one is written, an undefined one is not. */
  message(field: number, value: FieldWriter | undefined): this {
    if (value) this.#delimited(field, value.finish())
    return this
  }

  finish(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.#parts))
  }

  #delimited(field: number, value: Uint8Array): void {
    this.#parts.push(varint(field * 8 + DELIMITED), varint(value.length), value)
  }
}

/** Messages in sequence, each behind its length. */
export const delimited = (messages: readonly FieldWriter[]): Uint8Array =>
  new Uint8Array(
    Buffer.concat(
      messages.flatMap(each => {
        const bytes = each.finish()
        return [varint(bytes.length), bytes]
      })
    )
  )

const varint = (value: number): Uint8Array => {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  bytes.push(rest)
  return Uint8Array.from(bytes)
}
