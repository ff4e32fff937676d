/**
 * The complete blocks of a subscription. At the end of a block the server reports the number of transactions that it sent.
 * A block is open until that many have arrived, and until its end is reported if a later block's was. The progress of a
 * subscription is its lowest open block. Transactions of a block that stays open were lost, and are requested again.
 */
import { QuoinError } from '@quoin/primitives'

/** Transactions counted per block; larger blocks are taken for complete. */
const MAX_COUNTED = 1_000_000
/** Limit of open blocks. */
const MAX_OPEN = 10_000

interface OpenBlock {
  readonly seen: Set<string>
  /** Number of sent transactions, once reported. */
  sent: number | undefined
  /** Time from which the block can be complete, in milliseconds. */
  since: number | undefined
}

export class BlockTracker {
  /** All lower blocks are complete. */
  #from: number
  #lastDone: number
  readonly #open = new Map<number, OpenBlock>()
  /** Blocks from `#from` on. */
  readonly #complete = new Set<number>()
  #reportsAll: boolean

  /**
   * @param reportsAll Whether the server reports every block, including empty ones, so that a skipped one was lost. It
   * becomes false once a skipped block was empty, and is passed on to the next tracker.
   */
  constructor(from: number, reportsAll = true) {
    this.#from = from
    this.#lastDone = from - 1
    this.#reportsAll = reportsAll
  }

  /** The height to resume from: all lower blocks are complete. */
  get next(): number {
    return this.#from
  }

  get lastDone(): number {
    return this.#lastDone
  }

  get reportsAll(): boolean {
    return this.#reportsAll
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

  /** The lowest block that has been incomplete since before a moment, with its number of arrived transactions. */
  incomplete(before: number): { readonly height: number; readonly seen: number } | undefined {
    let found: { height: number; seen: number } | undefined
    for (const [height, { since, seen }] of this.#open) {
      if (since === undefined || since > before || (found && found.height < height)) continue
      found = { height, seen: seen.size }
    }
    return found
  }

  /** All blocks from `next` on are sent again: counts stay, and open blocks get new deadlines. */
  again(): void {
    for (const open of this.#open.values()) open.since = undefined
  }

  /** Marks a block as complete. */
  accept(height: number): void {
    const block = this.#open.get(height)
    if (!block) return
    if (block.sent === undefined && block.seen.size === 0) this.#reportsAll = false
    this.#completed(height)
  }

  /** Open and skipped blocks below a finished block are overdue. */
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

  /** Advances past complete blocks, and past blocks that the server need not report. */
  #advance(): void {
    let next = this.#from
    if (this.#reportsAll) while (this.#complete.has(next)) next++
    else next = Math.min(this.#lastDone + 1, ...this.#open.keys())
    this.#from = Math.max(this.#from, next)
    for (const height of this.#complete) if (height < this.#from) this.#complete.delete(height)
  }
}
