/**
 * Rows of one sorted set, gathered from their keys into one memory and compared there with the rows of another: a
 * join passes over a million rows to find a few, and a row costs no object before it is found.
 */
import type { ScoredMember } from '../engine.ts'
import { grown } from './byte-table.ts'
import type { ReadKey } from './kv.ts'
import { MEMBER_AT, numbered, ROW_AT, scoreOfRow, TAG } from './layout.ts'

/** The marker, the score, and a member of 36 bytes or so. */
const USUAL = 64

export class RowList {
  /** Of row `i`, what its key has behind the id of the set lies from `#starts[i]` to `#starts[i + 1]`. */
  #bytes: Uint8Array
  #starts: Int32Array
  #count = 0

  /** With room for so many rows of a usual length. */
  constructor(expected: number) {
    this.#bytes = new Uint8Array(expected * USUAL)
    this.#starts = new Int32Array(expected + 1)
  }

  get count(): number {
    return this.#count
  }

  /** Appends the row whose key it reads. */
  readonly gather: ReadKey<undefined> = (source, start, end) => {
    const row = this.#count++
    let at = this.#starts[row]!
    const bytes = grown(this.#bytes, at + end - start)
    for (let i = start + ROW_AT; i < end; i++) bytes[at++] = source[i]!
    this.#bytes = bytes
    const starts = grown(this.#starts, row + 2)
    starts[row + 1] = at
    this.#starts = starts
    return undefined
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
    const bytes = this.#bytes
    const starts = this.#starts
    const count = this.#count
    let row = 0
    const read: ReadKey<undefined> = (source, start, end) => {
      const from = start + ROW_AT
      const length = end - from
      for (; row < count; row++) {
        const at = starts[row]!
        const rowLength = starts[row + 1]! - at
        const shorter = length < rowLength ? length : rowLength
        let i = 0
        while (i < shorter && source[from + i] === bytes[at + i]) i++
        const order = i < shorter ? source[from + i]! - bytes[at + i]! : length - rowLength
        if (order === 0) marks[row] = 1
        else if (order < 0 !== reverse) return undefined
      }
      return undefined
    }
    return { read, passed: () => row }
  }
}
