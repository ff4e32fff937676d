/**
 * A cursor over bytes that strangers sent. It never reads past the end, and never believes a count: one that the
 * bytes after it cannot hold is refused before anything is allocated for it. Integers are little-endian.
 */
import { QuoinError } from './error.ts'
import type { ErrorCode } from './error-codes.ts'

export class Reader {
  /** The bytes; never a Buffer, so that views of it are not Buffers either. */
  readonly source: Uint8Array
  readonly #view: DataView
  readonly #code: ErrorCode
  #at: number

  /** Everything that is wrong with the bytes is thrown as an error of this code. */
  constructor(bytes: Uint8Array, code: ErrorCode, offset = 0) {
    this.source =
      bytes.constructor === Uint8Array
        ? bytes
        : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#code = code
    this.#at = offset
  }

  get offset(): number {
    return this.#at
  }

  get remaining(): number {
    return this.source.length - this.#at
  }

  u8(): number {
    return this.#view.getUint8(this.#take(1))
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2), true)
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true)
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#take(8), true)
  }

  /** Eight bytes whose value a `number` holds exactly; more is refused. */
  u53(): number {
    const at = this.#take(8)
    const high = this.#view.getUint32(at + 4, true)
    if (high > 0x1fffff) throw this.error('a number of more than 53 bits', { offset: at })
    return high * 0x100000000 + this.#view.getUint32(at, true)
  }

  /** Bitcoin's CompactSize. A longer form than needed is accepted, since the bytes are kept. */
  varint(): number {
    const first = this.u8()
    if (first < 0xfd) return first
    return first === 0xfd ? this.u16() : first === 0xfe ? this.u32() : this.u53()
  }

  /** A varint that counts things of at least so many bytes each. */
  count(least: number, of: string): number {
    const offset = this.#at
    const count = this.varint()
    if (count * least > this.remaining) {
      throw this.error(`${count} ${of} do not fit`, { offset, count, remaining: this.remaining })
    }
    return count
  }

  /** A view of the next `length` bytes. */
  bytes(length: number): Uint8Array {
    const start = this.#take(length)
    return this.source.subarray(start, this.#at)
  }

  skip(length: number): void {
    this.#take(length)
  }

  /** A view of the bytes read since `start`. */
  since(start: number): Uint8Array {
    return this.source.subarray(start, this.#at)
  }

  /** Refuses bytes that are left over. */
  end(): void {
    if (this.remaining > 0) throw this.error(`${this.remaining} bytes too many`)
  }

  /** An error of the caller, at the current offset. */
  error(message: string, details: Record<string, unknown> = {}): QuoinError {
    return new QuoinError(this.#code, message, { offset: this.#at, ...details })
  }

  #take(length: number): number {
    const start = this.#at
    if (length > this.source.length - start) {
      throw this.error('the bytes end too early', { wanted: length, remaining: this.remaining })
    }
    this.#at = start + length
    return start
  }
}
