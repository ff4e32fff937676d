/**
 * Decodes the rows of pages one by one, on demand. Written by hand: a generator takes several event-loop turns to
 * return a row that is in memory, and most walks are short.
 */
import type { KeyValue } from '@quoin/store'

type Decode<T> = (key: Uint8Array, value: Uint8Array) => T

export const decodeRows = <T>(
  pages: AsyncIterable<readonly KeyValue[]>,
  decode: Decode<T>
): AsyncIterable<T> => new DecodedRows(pages[Symbol.asyncIterator](), decode)

class DecodedRows<T> implements AsyncIterableIterator<T> {
  readonly #pages: AsyncIterator<readonly KeyValue[]>
  readonly #decode: Decode<T>
  #page: readonly KeyValue[] = []
  #row = 0
  #turning: Promise<void> | undefined
  #isOver = false

  constructor(pages: AsyncIterator<readonly KeyValue[]>, decode: Decode<T>) {
    this.#pages = pages
    this.#decode = decode
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    while (this.#row === this.#page.length) {
      if (this.#isOver) return { done: true, value: undefined }
      // Concurrent calls of `next` await the same page.
      this.#turning ??= this.#turn()
      await this.#turning
    }
    const { key, value } = this.#page[this.#row++]!
    return { done: false, value: this.#decode(key, value) }
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#page = []
    this.#row = 0
    this.#isOver = true
    return { done: true, value: undefined }
  }

  async #turn(): Promise<void> {
    try {
      const { done, value } = await this.#pages.next()
      if (this.#isOver) return
      this.#isOver = done === true
      this.#page = done ? [] : value
      this.#row = 0
    } finally {
      this.#turning = undefined
    }
  }
}
