/** Ancestors of a new header, as far back as the rules look: one line without gaps that ends at its parent. */
import type { ChainHeader, Header } from './header.ts'
import { workOf } from './target.ts'

/** Headers in the median of past time. */
const MEDIAN_SPAN = 11

export class Branch {
  /** Headers from `first` upwards, without a gap. */
  readonly #headers: ChainHeader[]
  readonly #first: number

  /** At least one header, each the parent of the next. */
  constructor(headers: readonly ChainHeader[]) {
    this.#headers = [...headers]
    this.#first = headers[0]!.height
  }

  get tip(): ChainHeader {
    return this.#headers.at(-1)!
  }

  /** Undefined below the start of the branch. */
  at(height: number): ChainHeader | undefined {
    return this.#headers[height - this.#first]
  }

  /** Appends a child of the last header, with its height and work. */
  push(header: Header): ChainHeader {
    const { height, work } = this.tip
    const next = { header, height: height + 1, work: work + workOf(header.bits) }
    this.#headers.push(next)
    return next
  }

  /** Branch of the last `count` headers. */
  last(count: number): Branch {
    return new Branch(this.#headers.slice(-count))
  }

  /**
   * Median time of the header at `height` and the ten before it; of fewer at the genesis block, and undefined above a
   * checkpoint with fewer known headers.
   */
  medianTime(height: number): number | undefined {
    const from = Math.max(0, height - MEDIAN_SPAN + 1)
    if (from < this.#first || height > this.tip.height) return undefined
    const times = this.#headers
      .slice(from - this.#first, height - this.#first + 1)
      .map(({ header }) => header.time)
    return times.sort((a, b) => a - b)[times.length >> 1]
  }
}
