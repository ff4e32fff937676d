/**
 * Texts with few bytes: hexadecimal is stored as the bytes that it writes. A text is runs, then a zero: a length (1 to
 * 127) and so many bytes of UTF-8; 128, 32 bytes and an index as LEB128 for an outpoint `{hex}_{index}`; 129 for the last
 * such outpoint again; 130, a length and bytes for other hexadecimal. Texts that UTF-8 cannot hold are refused.
 */
import { encodeText, fromHex, QuoinError, toHex } from '@quoin/primitives'

const [END, MOST, OUTPOINT, AGAIN, HEX] = [0, 127, 128, 129, 130] as const
/** An outpoint in the form of a token id, or hexadecimal that is long enough to gain. */
const PARTS = /[0-9a-f]{64}_(?:0|[1-9][0-9]{0,9})(?![0-9])|(?:[0-9a-f]{2}){8,255}/g
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Appends to bytes that grow. */
export class ByteWriter {
  #bytes = new Uint8Array(256)
  #end = 0
  /** The last outpoint that was written. */
  #outpoint = ''

  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#end++] = value
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length)
    this.#bytes.set(value, this.#end)
    this.#end += value.length
  }

  /** LEB128. */
  count(value: number): void {
    let rest = value
    for (; rest > 127; rest = Math.floor(rest / 128)) this.byte((rest % 128) | 128)
    this.byte(rest)
  }

  text(value: string): void {
    if (value.length < 16) this.#plain(value)
    else {
      let at = 0
      for (const { 0: part, index } of value.matchAll(PARTS)) {
        this.#plain(value.slice(at, index))
        this.#part(part)
        at = index + part.length
      }
      this.#plain(value.slice(at))
    }
    this.byte(END)
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#end)
  }

  #plain(text: string): void {
    if (text === '') return
    const bytes = encodeText(text)
    for (let from = 0; from < bytes.length; from += MOST) {
      const run = bytes.subarray(from, from + MOST)
      this.byte(run.length)
      this.bytes(run)
    }
  }

  #part(part: string): void {
    if (part[64] !== '_') {
      this.byte(HEX)
      this.byte(part.length / 2)
      this.bytes(fromHex(part))
    } else if (part === this.#outpoint) this.byte(AGAIN)
    else {
      this.#outpoint = part
      this.byte(OUTPOINT)
      this.bytes(fromHex(part.slice(0, 64)))
      this.count(Number(part.slice(65)))
    }
  }

  #reserve(length: number): void {
    if (this.#end + length <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(2 * this.#bytes.length, this.#end + length))
    grown.set(this.#bytes)
    this.#bytes = grown
  }
}

export class ByteReader {
  readonly #bytes: Uint8Array
  #at = 0
  #outpoint = ''

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  get #left(): number {
    return this.#bytes.length - this.#at
  }

  byte(): number {
    return this.bytes(1)[0]!
  }

  /** A view. */
  bytes(length: number): Uint8Array {
    const end = this.#at + length
    if (end > this.#bytes.length) throw this.damaged('it ends too early')
    const view = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return view
  }

  count(): number {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte()
      value += (byte & 127) * factor
      if (value > Number.MAX_SAFE_INTEGER) throw this.damaged('a number is too large')
      if (byte < 128) return value
    }
  }

  /** The number of items that follow, each of at least one byte. */
  length(): number {
    const length = this.count()
    if (length > this.#left) throw this.damaged('it ends too early')
    return length
  }

  text(): string {
    let text = ''
    for (;;) {
      const code = this.byte()
      if (code === END) return text
      text += this.#run(code)
    }
  }

  #run(code: number): string {
    if (code <= MOST) return this.#plain(code)
    if (code === HEX) return toHex(this.bytes(this.byte()))
    if (code === OUTPOINT) this.#outpoint = `${toHex(this.bytes(32))}_${this.count()}`
    else if (code !== AGAIN || this.#outpoint === '')
      throw this.damaged(`a text has the unknown part ${code}`)
    return this.#outpoint
  }

  /** Runs that follow one another are one text: a character may lie in two of them. */
  #plain(length: number): string {
    let bytes = this.bytes(length)
    while (length === MOST && this.#bytes[this.#at]! > END && this.#bytes[this.#at]! <= MOST) {
      length = this.byte()
      bytes = Buffer.concat([bytes, this.bytes(length)])
    }
    try {
      return decoder.decode(bytes)
    } catch (cause) {
      throw this.damaged('a text is not UTF-8', cause)
    }
  }

  damaged(reason: string, cause?: unknown): QuoinError {
    return new QuoinError('ERR_VALUE_DECODE', `a compact value is corrupt: ${reason}`, {
      bytes: this.#bytes.length,
      cause
    })
  }
}
