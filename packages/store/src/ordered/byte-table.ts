/**
 * A table of byte strings, numbered in the order they came. It replaces a `Map`, since JavaScript cannot find bytes
 * in one: the writer looks up some fifty keys and members for each transaction, and strings for them would be most of
 * its work.
 */

/** Entries are the prefix and the bytes together: a key of a row, whose tag is the prefix. */
export class ByteTable {
  /** Numbers of entries, one up, by hash; 0 is free. At least half of it is free. */
  #slots = new Int32Array(1024)
  #hashes = new Int32Array(512)
  /** Entry `i` lies in the arena from `#starts[i]` to `#starts[i + 1]`. */
  #starts = new Int32Array(513)
  #arena = new Uint8Array(16 * 1024)
  #count = 0
  /** Hash of the last key that was searched: an absent key is usually added next. */
  #lastHash = 0

  get count(): number {
    return this.#count
  }

  /** The number of an entry, or -1. */
  find(prefix: Uint8Array, bytes: Uint8Array): number {
    const hash = hashOf(prefix, bytes)
    this.#lastHash = hash
    const mask = this.#slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#slots[slot]! - 1
      if (entry < 0) return -1
      if (this.#hashes[entry] === hash && this.#equals(entry, prefix, bytes)) return entry
    }
  }

  /** Adds an entry that `find` has just not found, and returns its number. */
  add(prefix: Uint8Array, bytes: Uint8Array): number {
    const entry = this.#count++
    const start = this.#starts[entry]!
    const end = start + prefix.length + bytes.length
    this.#reserve(end)
    this.#arena.set(prefix, start)
    this.#arena.set(bytes, start + prefix.length)
    this.#starts[entry + 1] = end
    this.#hashes[entry] = this.#lastHash
    this.#occupy(entry)
    return entry
  }

  /** A view of an entry, good until the next `add`. */
  at(entry: number): Uint8Array {
    return this.#arena.subarray(this.#starts[entry]!, this.#starts[entry + 1]!)
  }

  /** Writes an entry without its first `skip` bytes to the target, and returns the offset after it. */
  copy(entry: number, skip: number, target: Uint8Array, offset: number): number {
    const arena = this.#arena
    const end = this.#starts[entry + 1]!
    let at = offset
    for (let i = this.#starts[entry]! + skip; i < end; i++) target[at++] = arena[i]!
    return at
  }

  /** Below, at or above 0: by the order of their bytes. */
  compare(a: number, b: number): number {
    const arena = this.#arena
    let i = this.#starts[a]!
    let j = this.#starts[b]!
    const [endA, endB] = [this.#starts[a + 1]!, this.#starts[b + 1]!]
    for (; i < endA && j < endB; i++, j++) if (arena[i] !== arena[j]) return arena[i]! - arena[j]!
    return endA - i - (endB - j)
  }

  clear(): void {
    if (this.#count === 0) return
    this.#slots.fill(0)
    this.#count = 0
  }

  #equals(entry: number, prefix: Uint8Array, bytes: Uint8Array): boolean {
    let at = this.#starts[entry]!
    if (this.#starts[entry + 1]! - at !== prefix.length + bytes.length) return false
    const arena = this.#arena
    for (let i = 0; i < prefix.length; i++) if (arena[at++] !== prefix[i]) return false
    for (let i = 0; i < bytes.length; i++) if (arena[at++] !== bytes[i]) return false
    return true
  }

  #occupy(entry: number): void {
    const mask = this.#slots.length - 1
    let slot = this.#hashes[entry]! & mask
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
    this.#slots[slot] = entry + 1
  }

  #reserve(bytes: number): void {
    this.#arena = ensureCapacity(this.#arena, bytes)
    this.#starts = ensureCapacity(this.#starts, this.#count + 1)
    this.#hashes = ensureCapacity(this.#hashes, this.#count)
    if (this.#count * 2 <= this.#slots.length) return
    this.#slots = new Int32Array(this.#slots.length * 2)
    for (let entry = 0; entry < this.#count - 1; entry++) this.#occupy(entry)
  }
}

/** The array itself if it has room for so many, or one twice as long that begins with it. */
export const ensureCapacity = <A extends Uint8Array | Int32Array | Float64Array>(
  array: A,
  needed: number
): A => {
  if (needed <= array.length) return array
  const larger = new (array.constructor as new (length: number) => A)(Math.max(needed, array.length * 2))
  larger.set(array)
  return larger
}

/** A seed that differs from process to process, so that nobody can prepare keys that all fall together. */
const SEED = Math.floor(Math.random() * 2 ** 32) | 0
const FACTOR = 0x9e3779b1

/**
 * As FNV-1a does it, but with three bytes at a time: a fourth would reach the highest bit, which a product mod 2^32
 * keeps to itself, so that keys could be made to collide under every seed. The bits are mixed once more at the
 * end, since the table uses the low ones.
 */
const hashOf = (prefix: Uint8Array, bytes: Uint8Array): number => {
  let hash = SEED
  for (let i = 0; i < prefix.length; i++) hash = Math.imul(hash ^ prefix[i]!, FACTOR)
  const { length } = bytes
  let i = 0
  for (; i + 2 < length; i += 3) {
    hash = Math.imul(hash ^ (bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16)), FACTOR)
  }
  // The length tells bytes from the same with zeros behind them.
  let rest = length << 16
  if (i < length) rest |= bytes[i]!
  if (i + 1 < length) rest |= bytes[i + 1]! << 8
  hash = Math.imul(hash ^ rest, FACTOR)
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x2c1b3c6d)
  return hash ^ (hash >>> 13)
}
