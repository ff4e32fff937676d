/** The progress of one run over a JungleBus subscription: received, delivered and re-requested blocks. */
import { BlockTracker } from './block-tracker.ts'

/** Requests for an incomplete block that bring nothing new, before it is taken for complete. */
export const REPEATS = 3

export class SubscriptionProgress {
  blocks: BlockTracker
  /** The next block as of the last committed delivery, and the saved progress. */
  given: number
  place: number
  /** Time of the last check for lost blocks, in milliseconds. */
  lookedAt = performance.now()
  #behind = { tip: -1, times: 0 }
  readonly #asked = new Map<number, { readonly seen: number; readonly times: number }>()

  constructor(place: number) {
    this.given = place
    this.place = place
    this.blocks = new BlockTracker(place)
  }

  /** A reorg replaced all blocks from a height on. */
  reorg(from: number): void {
    this.blocks = new BlockTracker(from, this.blocks.reportsAll)
    this.place = Math.min(this.place, from)
    this.#asked.clear()
  }

  /** Whether blocks up to this one are requested again: a limited number of times, since they may be empty. */
  isBehind(tip: number): boolean {
    if (tip < this.blocks.next) return false
    this.#behind = { tip, times: this.#behind.tip === tip ? this.#behind.times + 1 : 1 }
    return this.#behind.times <= REPEATS
  }

  /** Whether a block was requested again so many times with the same result. */
  isRepeated(height: number, seen: number): boolean {
    for (const below of this.#asked.keys()) if (below < this.blocks.next) this.#asked.delete(below)
    const last = this.#asked.get(height)
    const times = last?.seen === seen ? last.times + 1 : 0
    this.#asked.set(height, { seen, times })
    return times >= REPEATS
  }
}
