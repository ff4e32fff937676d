/** Headers of a store: by hash, by height on the chain of most work, and branches. */
import { equalBytes, QuoinError } from '@quoin/primitives'
import type { Store } from '@quoin/store'
import { chain } from '../keys.ts'
import { Branch } from './branch.ts'
import { type ChainHeader, formatHash } from './header.ts'

const { header: headers, active, tip: tips } = chain.collections

/** Blocks that left the chain of most work, in the order of heights, and the last block before them. */
export interface RemovedBlocks {
  readonly fork: ChainHeader | undefined
  readonly removed: readonly ChainHeader[]
}

export class HeaderReads {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  async tip(): Promise<ChainHeader | undefined> {
    const hash = await this.#store.use(tips).get()
    return hash && this.#stored(hash)
  }

  byHash(hash: Uint8Array): Promise<ChainHeader | undefined> {
    return this.#store.use(headers).get(hash)
  }

  async byHeight(height: number): Promise<ChainHeader | undefined> {
    const hash = await this.#store.use(active).get(height)
    return hash && this.#stored(hash)
  }

  async isActive({ header, height }: ChainHeader): Promise<boolean> {
    const hash = await this.#store.use(active).get(height)
    return hash !== undefined && equalBytes(hash, header.hash)
  }

  /**
   * Section of the chain of most work, both ends included. Its hashes are one read and headers are immutable, so it is
   * one line even while another process reorganises the chain.
   */
  async activeLine(from: number, to: number): Promise<ChainHeader[]> {
    const range = active.range([], { gte: [from], lte: [to] })
    const rows = await this.#store.range(range)
    return Promise.all(rows.map(({ value }) => this.#stored(active.value.codec.decode(value))))
  }

  /** Hashes of the same section, without the headers. */
  async activeHashes(from: number, to: number): Promise<Uint8Array[]> {
    const rows = await this.#store.range(active.range([], { gte: [from], lte: [to] }))
    return rows.map(({ value }) => active.value.codec.decode(value))
  }

  /** Branch of `count` headers, or of all known ones, that ends at `last`. */
  async branchTo(
    last: ChainHeader,
    count: number,
    fresh: (hash: Uint8Array) => ChainHeader | undefined
  ): Promise<Branch> {
    const line = [last]
    while (line.length < count) {
      const { header } = line.at(-1)!
      const before = fresh(header.previous) ?? (await this.byHash(header.previous))
      if (!before) break
      line.push(before)
      const missing = count - line.length
      if (missing === 0 || before.height === 0 || !(await this.isActive(before))) continue
      // Read the rest from the chain of most work, unless it has changed since.
      const below = await this.activeLine(Math.max(0, before.height - missing), before.height - 1)
      if (below.length > 0 && equalBytes(below.at(-1)!.header.hash, before.header.previous)) {
        line.push(...below.reverse())
        break
      }
    }
    return new Branch(line.reverse())
  }

  /** The blocks that have left the chain of most work since its tip was `before`; without a fork when all known ones did. */
  async removedSince(before: ChainHeader): Promise<RemovedBlocks> {
    const removed: ChainHeader[] = []
    let last: ChainHeader | undefined = before
    while (last && !(await this.isActive(last))) {
      removed.push(last)
      last = await this.byHash(last.header.previous)
    }
    return { fork: last, removed: removed.reverse() }
  }

  /** Headers are never removed, so every referenced hash has a row. */
  async #stored(hash: Uint8Array): Promise<ChainHeader> {
    const found = await this.byHash(hash)
    if (!found) {
      throw new QuoinError('ERR_STORE_CORRUPT', `header ${formatHash(hash)} is missing`, {
        hash: formatHash(hash)
      })
    }
    return found
  }
}
