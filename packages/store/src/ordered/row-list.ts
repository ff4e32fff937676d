/**
 * Rows of one sorted set, gathered from their keys into one memory and compared there with the rows of another: a
 * join passes over a million rows to find a few, and a row costs no object before it is found.
 */
import type { ScoredMember } from '../engine.ts'
import { ensureCapacity } from './byte-table.ts'
import type { ReadKey } from './kv.ts'
import { MEMBER_AT, numbered, ROW_AT, scoreOfRow, TAG } from './layout.ts'

/** The marker, the score, and a member of 36 bytes or so. */
const USUAL = 64

export class RowList {
  /** The key of row `i`, without the tag and the id of the set, lies from `#starts[i]` to `#starts[i + 1]`. */
  #bytes: Uint8Array
  #words: DataView
  #starts: Int32Array
  #count = 0

  /** With room for so many rows of a usual length. */
  constructor(expected: number) {
    this.#bytes = new Uint8Array(expected * USUAL)
    this.#words = new DataView(this.#bytes.buffer)
    this.#starts = new Int32Array(expected + 1)
  }

  get count(): number {
    return this.#count
  }

  /** Appends the row whose key it reads. */
  readonly gather: ReadKey<undefined> = (source, start, end) => {
    const row = this.#count++
    let at = this.#starts[row]!
    if (at + end - start > this.#bytes.length || row + 2 > this.#starts.length) this.#grow(at + end - start)
    const from = wordsOf(source)
    const to = this.#words
    let i = start + ROW_AT
    for (; i + 4 <= end; i += 4, at += 4) to.setUint32(at, from.getUint32(i))
    for (; i < end; i++) to.setUint8(at++, from.getUint8(i))
    this.#starts[row + 1] = at
    return undefined
  }

  #grow(bytes: number): void {
    this.#bytes = ensureCapacity(this.#bytes, bytes)
    this.#words = new DataView(this.#bytes.buffer)
    this.#starts = ensureCapacity(this.#starts, this.#count + 1)
  }

  /** The row itself, in bytes of its own. */
  at(row: number): ScoredMember {
    const start = this.#starts[row]! - ROW_AT
    return {
      member: this.#bytes.slice(start + MEMBER_AT, this.#starts[row + 1]!),
      score: scoreOfRow(this.#bytes, start)
    }
  }

  /** A view of the member. */
  member(row: number): Uint8Array {
    return this.#bytes.subarray(this.#starts[row]! + MEMBER_AT - ROW_AT, this.#starts[row + 1]!)
  }

  /** The key that the row would have in the set with the id. */
  keyIn(id: number, row: number): Uint8Array {
    return numbered(TAG.row, id, this.#bytes.subarray(this.#starts[row]!, this.#starts[row + 1]!))
  }

  /**
   * Marks the rows of the list that another set has exactly as they are: a reader for a walk of that set in the
   * direction of the list, and how many rows of the list the walk has come past.
   */
  marking(marks: Uint8Array, reverse: boolean): { readonly read: ReadKey<undefined>; passed(): number } {
    const words = this.#words
    const starts = this.#starts
    const count = this.#count
    let row = 0
    const read: ReadKey<undefined> = (source, start, end) => {
      const other = wordsOf(source)
      const from = start + ROW_AT
      const length = end - from
      for (; row < count; row++) {
        const at = starts[row]!
        const order = compare(other, from, length, words, at, starts[row + 1]! - at)
        if (order === 0) marks[row] = 1
        else if (order < 0 !== reverse) return undefined
      }
      return undefined
    }
    return { read, passed: () => row }
  }
}

/** Below, at or above 0: by the order of their bytes. */
const compare = (
  a: DataView,
  aStart: number,
  aLength: number,
  b: DataView,
  bStart: number,
  bLength: number
): number => {
  const shorter = aLength < bLength ? aLength : bLength
  let i = 0
  for (; i + 4 <= shorter; i += 4) {
    const order = a.getUint32(aStart + i) - b.getUint32(bStart + i)
    if (order !== 0) return order
  }
  for (; i < shorter; i++) {
    const order = a.getUint8(aStart + i) - b.getUint8(bStart + i)
    if (order !== 0) return order
  }
  return aLength - bLength
}

let lastSource: Uint8Array | undefined
let lastWords: DataView = new DataView(new ArrayBuffer(0))

/** To read four bytes at a time. LMDB writes all keys to the same memory. */
const wordsOf = (source: Uint8Array): DataView => {
  if (source !== lastSource) {
    lastWords = new DataView(source.buffer, source.byteOffset, source.length)
    lastSource = source
  }
  return lastWords
}
