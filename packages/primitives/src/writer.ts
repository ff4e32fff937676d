/** Bytes written one after the other into a buffer that grows. Integers are little-endian. */

/** The buffer that the last writer left to the next one, of at most `MOST_SPARE` bytes. */
let spare: Uint8Array | undefined
const MOST_SPARE = 1 << 20

type Copy = (bytes: Uint8Array, start: number, end: number) => Uint8Array
const copyOfItsOwn: Copy = (bytes, start, end) => bytes.slice(start, end)

export class Writer {
  #bytes: Uint8Array
  #view: DataView
  #at = 0
  #isLent = false

  constructor(capacity: number | Uint8Array = 256) {
    this.#bytes = typeof capacity === 'number' ? new Uint8Array(capacity) : capacity
    this.#view = new DataView(this.#bytes.buffer)
  }

  /** Reuses the buffer of the previous writer, since clearing new memory is slow. */
  static ofAnySize(): Writer {
    const writer = new Writer(spare ?? 4096)
    spare = undefined
    writer.#isLent = true
    return writer
  }

  get length(): number {
    return this.#at
  }

  u8(value: number): void {
    const at = this.#room(1)
    this.#view.setUint8(at, value)
  }

  u16(value: number): void {
    const at = this.#room(2)
    this.#view.setUint16(at, value, true)
  }

  u32(value: number): void {
    const at = this.#room(4)
    this.#view.setUint32(at, value, true)
  }

  /** Eight bytes of a whole number below 2^53. */
  u53(value: number): void {
    const at = this.#room(8)
    this.#view.setUint32(at, value % 0x100000000, true)
    this.#view.setUint32(at + 4, Math.floor(value / 0x100000000), true)
  }

  /** Bitcoin's CompactSize in its shortest form. */
  varint(value: number): void {
    if (value < 0xfd) this.u8(value)
    else if (value <= 0xffff) {
      this.u8(0xfd)
      this.u16(value)
    } else if (value <= 0xffffffff) {
      this.u8(0xfe)
      this.u32(value)
    } else {
      this.u8(0xff)
      this.u53(value)
    }
  }

  bytes(bytes: Uint8Array): void {
    const at = this.#room(bytes.length)
    this.#bytes.set(bytes, at)
  }

  /** A length and the bytes. */
  sized(bytes: Uint8Array): void {
    this.varint(bytes.length)
    this.bytes(bytes)
  }

  /** The written bytes, in memory of their own unless `copy` takes them elsewhere. This ends the writer. */
  finish(copy: Copy = copyOfItsOwn): Uint8Array {
    if (!this.#isLent && this.#at === this.#bytes.length) return this.#bytes
    const written = copy(this.#bytes, 0, this.#at)
    if (this.#isLent && this.#bytes.length <= MOST_SPARE) spare = this.#bytes
    return written
  }

  #room(length: number): number {
    const start = this.#at
    this.#at += length
    if (this.#at > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#at, this.#bytes.length * 2))
      larger.set(this.#bytes.subarray(0, start))
      this.#bytes = larger
      this.#view = new DataView(larger.buffer)
    }
    return start
  }
}

/** The bytes of a length in its shortest form. */
export const varintLength = (value: number): number =>
  value < 0xfd ? 1 : value <= 0xffff ? 3 : value <= 0xffffffff ? 5 : 9

/** The bytes of a part with its length in front. */
export const sizedLength = ({ length }: Uint8Array): number => varintLength(length) + length
