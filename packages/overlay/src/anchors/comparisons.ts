/** Results of comparisons by both anchors: peers with the same anchors are compared once. */
import { bytesKey } from '@quoin/primitives'
import type { AnchorReport } from './anchor-sync.ts'

/** Two anchors of one height. */
export interface AnchorPair {
  readonly own: Uint8Array
  readonly other: Uint8Array
}

const MAX_RESULTS = 1000

export class Comparisons {
  readonly #results = new Map<string, AnchorReport>()

  get(pair: AnchorPair): AnchorReport | undefined {
    return this.#results.get(keyOf(pair))
  }

  add(pair: AnchorPair, report: AnchorReport): void {
    if (this.#results.size >= MAX_RESULTS) this.#results.clear()
    this.#results.set(keyOf(pair), report)
  }
}

const keyOf = ({ own, other }: AnchorPair): string => bytesKey(own) + bytesKey(other)
