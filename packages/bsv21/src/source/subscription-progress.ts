/** How far one run over the deliveries of JungleBus is: which blocks came, what was given of them, what is asked for again. */
import { BlockTracker } from './block-tracker.ts'

/** How often a block is asked for again that brings nothing new, before it is taken for what it is. */
export const REPEATS = 3

export class SubscriptionProgress {
  blocks: BlockTracker
  /** The block to go on from, as of the last delivery that was taken, and the place that the store has since then. */
  given: number
  place: number
  /** When it was last looked whether there are blocks that nothing came of, in milliseconds. */
  lookedAt = performance.now()
  #behind = { tip: -1, times: 0 }
  readonly #asked = new Map<number, { readonly seen: number; readonly times: number }>()

  constructor(place: number) {
    this.given = place
    this.place = place
    this.blocks = new BlockTracker(place)
  }

  /** Everything from a height on is another chain. */
  reorg(from: number): void {
    this.blocks = new BlockTracker(from, this.blocks.tellsOfAll)
    this.place = Math.min(this.place, from)
    this.#asked.clear()
  }

  /** Whether blocks up to this one are to be asked for again: some times, for there may be nothing in them. */
  isBehind(tip: number): boolean {
    if (tip < this.blocks.next) return false
    this.#behind = { tip, times: this.#behind.tip === tip ? this.#behind.times + 1 : 1 }
    return this.#behind.times <= REPEATS
  }

  /** Whether a block was asked for again so many times, and this is all that came each time. */
  isRepeated(height: number, seen: number): boolean {
    for (const below of this.#asked.keys()) if (below < this.blocks.next) this.#asked.delete(below)
    const last = this.#asked.get(height)
    const times = last?.seen === seen ? last.times + 1 : 0
    this.#asked.set(height, { seen, times })
    return times >= REPEATS
  }
}
