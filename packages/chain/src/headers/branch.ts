/** The headers before a new one, as far back as the rules look: one unbroken line that ends at its parent. */
import type { ChainHeader, Header } from './header.ts'
import { workOf } from './target.ts'

/** How many headers the median of the past is taken of. */
const MEDIAN_SPAN = 11

export class Branch {
  /** From `first` upwards, without a gap. */
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

  /** Undefined where the line does not reach. */
  at(height: number): ChainHeader | undefined {
    return this.#headers[height - this.#first]
  }

  /** Takes the next header, which is known to follow, and gives it its place. */
  push(header: Header): ChainHeader {
    const { height, work } = this.tip
    const next = { header, height: height + 1, work: work + workOf(header.bits) }
    this.#headers.push(next)
    return next
  }

  /** Only the last `count` headers of it. */
  last(count: number): Branch {
    return new Branch(this.#headers.slice(-count))
  }

  /**
   * The median time of the header at this height and the ten before it; of fewer where the chain itself begins, and
   * undefined where only what is known of it does.
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
