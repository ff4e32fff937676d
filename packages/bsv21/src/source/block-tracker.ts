/**
 * Which blocks of a subscription have come whole. The server says how many transactions it sent of a block when it is
 * done with it; until as many have come the block is open, and so is one whose end was not told while that of a later
 * one was. A subscription has got as far as the lowest open block. What stays open for a while was lost on the way, and
 * is to be sent again.
 */
import { QuoinError } from '@quoin/primitives'

/** Transactions of one block that are counted; of a block with more it is believed that all have come. */
const MAX_COUNTED = 1_000_000
/** Blocks that are open at once. */
const MAX_OPEN = 10_000

interface OpenBlock {
  readonly seen: Set<string>
  /** How many were sent, once that is told. */
  sent: number | undefined
  /** When it could have been complete, in milliseconds. */
  since: number | undefined
}

export class BlockTracker {
  /** Everything below has come. */
  #from: number
  #lastDone: number
  readonly #open = new Map<number, OpenBlock>()
  /** From `#from` on. */
  readonly #complete = new Set<number>()
  #tellsOfAll: boolean

  /**
   * The server is held to tell of every block, with transactions or without: one that was passed over was lost. If that
   * turns out to be wrong, it is given on from one to the next.
   */
  constructor(from: number, tellsOfAll = true) {
    this.#from = from
    this.#lastDone = from - 1
    this.#tellsOfAll = tellsOfAll
  }

  /** The height to go on from: all below has come. */
  get next(): number {
    return this.#from
  }

  get lastDone(): number {
    return this.#lastDone
  }

  get tellsOfAll(): boolean {
    return this.#tellsOfAll
  }

  saw(height: number, txid: string): void {
    if (this.#isComplete(height)) return
    const { seen, sent } = this.#opened(height)
    if (seen.size < MAX_COUNTED) seen.add(txid)
    if (sent !== undefined && seen.size >= Math.min(sent, MAX_COUNTED)) this.#completed(height)
  }

  done(height: number, sent: number, now: number): void {
    if (this.#isComplete(height)) {
      this.#late(height, now)
      return
    }
    const block = this.#opened(height)
    block.sent = sent
    block.since ??= now
    if (block.seen.size >= Math.min(sent, MAX_COUNTED)) this.#completed(height)
    this.#lastDone = Math.max(this.#lastDone, height)
    this.#advance()
    this.#late(height, now)
  }

  /** The lowest block that has been incomplete since before a moment, with how many of it have come. */
  incomplete(before: number): { readonly height: number; readonly seen: number } | undefined {
    let found: { height: number; seen: number } | undefined
    for (const [height, { since, seen }] of this.#open) {
      if (since === undefined || since > before || (found && found.height < height)) continue
      found = { height, seen: seen.size }
    }
    return found
  }

  /** Everything from `next` on is sent again. What has come has come; what is missing has its time anew. */
  again(): void {
    for (const open of this.#open.values()) open.since = undefined
  }

  /** Takes a block for complete as it is. */
  accept(height: number): void {
    const block = this.#open.get(height)
    if (!block) return
    if (block.sent === undefined && block.seen.size === 0) this.#tellsOfAll = false
    this.#completed(height)
  }

  /** What is open below a block that is done should have been done before, and so should a block that was passed over. */
  #late(height: number, now: number): void {
    if (this.#from < height) this.#opened(this.#from)
    for (const [below, open] of this.#open) if (below < height) open.since ??= now
  }

  #opened(height: number): OpenBlock {
    const open = this.#open.get(height)
    if (open) return open
    if (this.#open.size >= MAX_OPEN) {
      throw new QuoinError('ERR_SOURCE_FORMAT', `of more than ${MAX_OPEN} blocks the end is not told`)
    }
    const block = { seen: new Set<string>(), sent: undefined, since: undefined }
    this.#open.set(height, block)
    return block
  }

  #isComplete(height: number): boolean {
    return height < this.#from || this.#complete.has(height)
  }

  #completed(height: number): void {
    this.#open.delete(height)
    this.#complete.add(height)
    this.#advance()
  }

  /** Over blocks that are complete, and over those that the server has no reason to tell of. */
  #advance(): void {
    let next = this.#from
    if (this.#tellsOfAll) while (this.#complete.has(next)) next++
    else next = Math.min(this.#lastDone + 1, ...this.#open.keys())
    this.#from = Math.max(this.#from, next)
    for (const height of this.#complete) if (height < this.#from) this.#complete.delete(height)
  }
}
