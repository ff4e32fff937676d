/**
 * Rows of the state: of a store, or of a store with uncommitted writes over it. Walks read pages, small at first:
 * most look for one row.
 */

import type { KeyRange } from '@quoin/keyspace'
import { compareBytes, QuoinError, successor } from '@quoin/primitives'
import type { Batch, KeyValue, StoreReads } from '@quoin/store'
import BTreeModule from 'sorted-btree'

// The package is CommonJS with a default export, which Node and bundlers expose differently.
const BTree = ('default' in BTreeModule ? BTreeModule.default : BTreeModule) as typeof BTreeModule.default
/** Null marks a deleted row. */
type Written = InstanceType<typeof BTree<Uint8Array, Uint8Array | null>>

/** Most walks look for the next row, or for the one behind it too. */
const FIRST_PAGE = 2
const LARGEST_PAGE = 512

export interface Rows {
  get(key: Uint8Array): Promise<Uint8Array | undefined>
  /** Neither repeats nor skips a row, also beside concurrent writes. */
  pages(range: KeyRange): AsyncIterable<readonly KeyValue[]>
}

export class StoreRows implements Rows {
  readonly #reads: StoreReads

  constructor(reads: StoreReads) {
    this.#reads = reads
  }

  get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#reads.get(key)
  }

  pages(range: KeyRange): AsyncIterable<readonly KeyValue[]> {
    return new StorePages(this.#reads, range)
  }
}

/** Written by hand: a generator takes several event-loop turns for each page. */
class StorePages implements AsyncIterableIterator<readonly KeyValue[]> {
  readonly #reads: StoreReads
  /** The unread rest of the range; undefined after the last page. */
  #left: KeyRange | undefined
  #limit = FIRST_PAGE

  constructor(reads: StoreReads, range: KeyRange) {
    this.#reads = reads
    this.#left = range
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<readonly KeyValue[], undefined>> {
    if (!this.#left) return OVER
    const page = await this.#reads.range(this.#left, { limit: this.#limit })
    const last = page[page.length - 1]?.key
    if (!last) {
      this.#left = undefined
      return OVER
    }
    const { reverse } = this.#left
    if (page.length < this.#limit) this.#left = undefined
    else this.#left = reverse ? { ...this.#left, end: last } : { ...this.#left, start: successor(last) }
    this.#limit = Math.min(this.#limit * 2, LARGEST_PAGE)
    return { done: false, value: page }
  }
}

const OVER: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** Rows with writes over them. */
export class BufferedRows implements Rows {
  readonly #base: Rows
  readonly #written: Written
  #isOver = false

  constructor(
    base: Rows,
    written: Written = new BTree<Uint8Array, Uint8Array | null>(undefined, compareBytes)
  ) {
    this.#base = base
    this.#written = written
  }

  /** A copy on write: later writes to this one do not change it. */
  fork(): BufferedRows {
    return new BufferedRows(this.#base, this.#written.clone())
  }

  get isEmpty(): boolean {
    return this.#written.size === 0
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    const written = this.#written.get(key)
    return written === undefined ? this.#base.get(key) : (written ?? undefined)
  }

  set(key: Uint8Array, value: Uint8Array): void {
    this.#write(key, value)
  }

  delete(key: Uint8Array): void {
    this.#write(key, null)
  }

  #write(key: Uint8Array, value: Uint8Array | null): void {
    if (this.#isOver)
      throw new QuoinError('ERR_LIQUIDITY_REFUSED', 'the change is over; what is set now would be lost', {
        reason: 'over'
      })
    this.#written.set(key, value)
  }

  /** Refuses later writes. */
  end(): void {
    this.#isOver = true
  }

  /** A walk sees the writes before it began, and none after. */
  pages(range: KeyRange): AsyncIterable<readonly KeyValue[]> {
    // The clone shares nodes. It is taken here, not when the first page is read.
    return this.isEmpty ? this.#base.pages(range) : this.#merged(range, this.#written.clone())
  }

  async *#merged(range: KeyRange, written: Written): AsyncGenerator<readonly KeyValue[]> {
    const over = entriesOf(written, range)
    const sign = range.reverse ? -1 : 1
    let next = over.next()
    for await (const page of this.#base.pages(range)) {
      const merged: KeyValue[] = []
      for (const row of page) {
        let order = 1
        for (; !next.done; next = over.next()) {
          order = compareBytes(next.value[0], row.key) * sign
          if (order >= 0) break
          add(merged, next.value)
        }
        if (next.done || order > 0) merged.push(row)
        else {
          add(merged, next.value)
          next = over.next()
        }
      }
      if (merged.length > 0) yield merged
    }
    const rest: KeyValue[] = []
    for (; !next.done; next = over.next()) add(rest, next.value)
    if (rest.length > 0) yield rest
  }

  /** Adds all writes to a batch. */
  writeTo(batch: Batch): void {
    this.#written.forEachPair((key, value) => {
      if (value) batch.set(key, value)
      else batch.del(key)
    })
  }
}

const add = (rows: KeyValue[], [key, value]: readonly [Uint8Array, Uint8Array | null]): void => {
  if (value) rows.push({ key, value })
}

function* entriesOf(
  written: Written,
  { start, end, reverse }: KeyRange
): Generator<[Uint8Array, Uint8Array | null]> {
  const entries = reverse
    ? written.entriesReversed(end ?? undefined, undefined, true)
    : written.entries(start)
  for (const entry of entries) {
    if (reverse ? compareBytes(entry[0], start) < 0 : end && compareBytes(entry[0], end) >= 0) return
    yield entry
  }
}
