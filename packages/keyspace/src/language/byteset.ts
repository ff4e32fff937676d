/** Sets of bytes, as 256 bits in eight words. Immutable: every operation returns a set. */
export class ByteSet {
  readonly #words: Uint32Array

  private constructor(words: Uint32Array) {
    this.#words = words
  }

  static of(...bytes: number[]): ByteSet {
    return ByteSet.from(bytes)
  }

  static from(bytes: Iterable<number>): ByteSet {
    const words = new Uint32Array(8)
    for (const byte of bytes) words[byte >> 5]! |= 1 << (byte & 31)
    return new ByteSet(words)
  }

  /** The bytes from `low` to `high`, both included. */
  static range(low: number, high: number): ByteSet {
    const words = new Uint32Array(8)
    for (let byte = low; byte <= high; byte++) words[byte >> 5]! |= 1 << (byte & 31)
    return new ByteSet(words)
  }

  /** The bytes of ASCII characters, for example `ByteSet.chars('0123456789')`. */
  static chars(text: string): ByteSet {
    return ByteSet.from(Array.from(text, char => char.charCodeAt(0)))
  }

  has(byte: number): boolean {
    return (this.#words[byte >> 5]! & (1 << (byte & 31))) !== 0
  }

  get isEmpty(): boolean {
    return this.#words.every(word => word === 0)
  }

  union(other: ByteSet): ByteSet {
    return new ByteSet(this.#words.map((word, i) => word | other.#words[i]!))
  }

  minus(other: ByteSet): ByteSet {
    return new ByteSet(this.#words.map((word, i) => word & ~other.#words[i]!))
  }

  /** The bytes with every bit flipped. */
  get inverted(): ByteSet {
    return ByteSet.from(Array.from(this, byte => byte ^ 0xff))
  }

  /** Whether the sets share a byte. The inner loop of every product of automata. */
  intersects(other: ByteSet): boolean {
    const a = this.#words
    const b = other.#words
    for (let i = 0; i < 8; i++) if ((a[i]! & b[i]!) !== 0) return true
    return false
  }

  /** The intersection, or undefined when it is empty. */
  meet(other: ByteSet): ByteSet | undefined {
    return this.intersects(other)
      ? new ByteSet(this.#words.map((word, i) => word & other.#words[i]!))
      : undefined
  }

  get min(): number {
    for (let i = 0; i < 8; i++) {
      const word = this.#words[i]!
      if (word !== 0) return 32 * i + 31 - Math.clz32(word & -word)
    }
    return -1
  }

  get max(): number {
    for (let i = 7; i >= 0; i--) if (this.#words[i] !== 0) return 32 * i + 31 - Math.clz32(this.#words[i]!)
    return -1
  }

  /** The most readable member, for witnesses: 00 among raw bytes, otherwise a common character. */
  get sample(): number {
    if (this.has(0x00) && this.has(0xff)) return 0x00
    return (this.has(Z) ? LETTERS : DIGITS).find(byte => this.has(byte)) ?? this.min
  }

  *[Symbol.iterator](): Generator<number> {
    for (let byte = 0; byte < 256; byte++) if (this.has(byte)) yield byte
  }

  equals(other: ByteSet): boolean {
    return this.#words.every((word, i) => word === other.#words[i])
  }

  /** The words as text: equal texts are equal sets. */
  get notation(): string {
    return Array.from(this.#words, word => word.toString(36)).join('.')
  }

  /** Text for people: `'0'-'9' 'a'-'f'`, `'|'`, `any byte`, `80-ff`. */
  toString(): string {
    const ranges: [number, number][] = []
    for (const byte of this) {
      const last = ranges.at(-1)
      if (last && last[1] === byte - 1) last[1] = byte
      else ranges.push([byte, byte])
    }
    if (ranges.length === 1 && ranges[0]![0] === 0 && ranges[0]![1] === 255) return 'any byte'
    return ranges.map(([low, high]) => (low === high ? show(low) : `${show(low)}-${show(high)}`)).join(' ')
  }

  static readonly all = ByteSet.range(0, 255)
}

const Z = 0x7a
const LETTERS = Array.from('abA1', char => char.charCodeAt(0))
const DIGITS = Array.from('012a', char => char.charCodeAt(0))

const show = (byte: number): string =>
  byte > 0x20 && byte < 0x7f ? `'${String.fromCharCode(byte)}'` : byte.toString(16).padStart(2, '0')
