/**
 * Headers on their way into a store: each is checked against the line it continues, and at the end it is known which
 * chain has most work. Nothing is written here.
 */
import { bytesKey, equalBytes, QuoinError } from '@quoin/primitives'
import type { Branch } from './branch.ts'
import { contextOf } from './difficulty.ts'
import { type ChainHeader, formatHash, type Header } from './header.ts'
import type { HeaderReads } from './header-reads.ts'
import type { NetworkRules } from './networks.ts'
import { checkHeader } from './rules.ts'

/**
 * How far below the tip a header may be that is not to become part of the chain of most work. Near the tip a header
 * costs its finder about what a block does, so nobody fills a store with them. Deep below, blocks were found with
 * next to nothing: there, only a branch that wins is worth its room, and it must be given whole.
 */
export const MAX_SIDE_DEPTH = 1000

/** How the chain of most work changes, in the order of heights. */
export interface Reorg {
  /** The height of the last block that both have. */
  readonly fork: number
  readonly removed: readonly ChainHeader[]
  readonly added: readonly ChainHeader[]
}

export class Addition {
  readonly #reads: HeaderReads
  readonly #rules: NetworkRules
  readonly #now: number
  readonly #fresh = new Map<string, ChainHeader>()
  /** It ends at the header that was taken last, so what follows that needs no look-up. */
  #branch: Branch | undefined
  #best: ChainHeader

  /** A `branch` that ends where the first header begins saves reading it. */
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

  /** The headers that the store does not have, in the order they were given. */
  get fresh(): ChainHeader[] {
    return [...this.#fresh.values()]
  }

  /** The last header of the chain of most work; of two with the same work the one that was there first. */
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

  /** The line that a header continues; undefined when the header is known. */
  async #branchOf(header: Header): Promise<Branch | undefined> {
    const branch = this.#branch
    const continues = branch !== undefined && equalBytes(header.previous, branch.tip.header.hash)
    // What is new here has no children in the store, and what was taken last has none at all.
    if (continues && this.#fresh.has(bytesKey(header.previous))) return branch
    if (this.#fresh.has(bytesKey(header.hash)) || (await this.#reads.byHash(header.hash))) return undefined
    if (continues) return branch
    const parent = this.#freshOf(header.previous) ?? (await this.#reads.byHash(header.previous))
    if (!parent) {
      throw new QuoinError(
        'ERR_HEADER_UNKNOWN',
        `the parent of header ${formatHash(header.hash)} is not known`,
        {
          hash: formatHash(header.hash),
          previous: formatHash(header.previous)
        }
      )
    }
    const count = contextOf(this.#rules, parent.height + 1)
    return this.#reads.branchTo(parent, count, hash => this.#freshOf(hash))
  }

  /** What becomes active above the fork, when the chain of most work is another than the one up to `tip`. */
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

  /** Refuses what is new, deep below the tip, and not on the chain of most work. */
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
