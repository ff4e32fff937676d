/**
 * Headers to be added to a store: each is checked against its branch, and then the chain of most work is determined.
 * Nothing is written here.
 */
import { bytesKey, equalBytes, QuoinError } from '@quoin/primitives'
import type { Branch } from './branch.ts'
import { contextOf } from './difficulty.ts'
import { type ChainHeader, formatHash, type Header } from './header.ts'
import type { HeaderReads } from './header-reads.ts'
import type { NetworkRules } from './networks.ts'
import { checkHeader } from './rules.ts'

/**
 * Most blocks below the tip at which a header outside of the chain of most work is stored. Near the tip a header costs
 * its miner about as much as a block, so nobody fills a store with them. Deep below, difficulty was next to nothing:
 * there a branch is stored only if it wins, and it must be added whole.
 */
export const MAX_SIDE_DEPTH = 1000

/** Change of the chain of most work, in the order of heights. */
export interface Reorg {
  /** Height of the last common block. */
  readonly fork: number
  readonly removed: readonly ChainHeader[]
  readonly added: readonly ChainHeader[]
}

export class HeaderAddition {
  readonly #reads: HeaderReads
  readonly #rules: NetworkRules
  readonly #now: number
  readonly #fresh = new Map<string, ChainHeader>()
  /** Branch that ends at the header added last, so its successor needs no look-up. */
  #branch: Branch | undefined
  #best: ChainHeader

  /** A `branch` that ends at the first header's parent saves reading it. */
  constructor(
    reads: HeaderReads,
    rules: NetworkRules,
    start: { readonly tip: ChainHeader; readonly branch: Branch | undefined; readonly now: number }
  ) {
    this.#reads = reads
    this.#rules = rules
    this.#now = start.now
    this.#best = start.tip
    this.#branch = start.branch
  }

  /** Headers that the store does not have, in the given order. */
  get fresh(): ChainHeader[] {
    return [...this.#fresh.values()]
  }

  /** Tip of the chain of most work; of two with equal work, the one seen first. */
  get best(): ChainHeader {
    return this.#best
  }

  get branch(): Branch | undefined {
    return this.#branch
  }

  async take(header: Header): Promise<void> {
    const branch = await this.#branchOf(header)
    if (!branch) return
    checkHeader(this.#rules, branch, header, this.#now)
    const taken = branch.push(header)
    this.#branch = branch
    this.#fresh.set(bytesKey(header.hash), taken)
    if (taken.work > this.#best.work) this.#best = taken
  }

  /** Branch that a header continues; undefined for a known header. */
  async #branchOf(header: Header): Promise<Branch | undefined> {
    const branch = this.#branch
    const continues = branch !== undefined && equalBytes(header.previous, branch.tip.header.hash)
    // A fresh header has no children in the store, and the one added last has none at all.
    if (continues && this.#fresh.has(bytesKey(header.previous))) return branch
    if (this.#fresh.has(bytesKey(header.hash)) || (await this.#reads.byHash(header.hash))) return undefined
    if (continues) return branch
    const parent = this.#freshOf(header.previous) ?? (await this.#reads.byHash(header.previous))
    if (!parent) {
      throw new QuoinError(
        'ERR_HEADER_UNKNOWN',
        `the parent of header ${formatHash(header.hash)} is unknown`,
        {
          hash: formatHash(header.hash),
          previous: formatHash(header.previous)
        }
      )
    }
    const count = contextOf(this.#rules, parent.height + 1)
    return this.#reads.branchTo(parent, count, hash => this.#freshOf(hash))
  }

  /** Reorg from the chain that ends at `tip` to the chain of most work. */
  async reorg(tip: ChainHeader): Promise<Reorg> {
    const added: ChainHeader[] = []
    let last = this.#best
    while (this.#fresh.has(bytesKey(last.header.hash)) || !(await this.#reads.isActive(last))) {
      added.push(last)
      last = (this.#freshOf(last.header.previous) ?? (await this.#reads.byHash(last.header.previous)))!
    }
    const removed = last.height < tip.height ? await this.#reads.activeLine(last.height + 1, tip.height) : []
    return { fork: last.height, removed, added: added.reverse() }
  }

  /** Refuses fresh headers deep below the tip that are not on the chain of most work. */
  checkDepth(added: readonly ChainHeader[]): void {
    const lowest = this.#best.height - MAX_SIDE_DEPTH
    const active = new Set(added)
    for (const each of this.#fresh.values()) {
      if (each.height >= lowest || active.has(each)) continue
      const hash = formatHash(each.header.hash)
      throw new QuoinError(
        'ERR_HEADER_INVALID',
        `header ${hash} at ${each.height} is of a branch too far below the tip`,
        { hash, height: each.height, tip: this.#best.height, reason: 'too far below the tip' }
      )
    }
  }

  #freshOf(hash: Uint8Array): ChainHeader | undefined {
    return this.#fresh.get(bytesKey(hash))
  }
}
