/**
 * A development chain in a store, which survives a restart and a crash: one row for each block, and
 * one for each unmined transaction. A save writes the difference in one batch.
 */

import { formatHash, chain as keys, parseHeader, parseTransaction, sortParentsFirst } from '@quoin/chain'
import { formatTxid, fromHex, type Txid, toHex } from '@quoin/primitives'
import type { Batch, Store } from '@quoin/store'
import { DevChain, type DevChainOptions } from './dev-chain.ts'

export interface PersistentDevChainOptions extends DevChainOptions {
  /** Adds a condition to each save: that this process has the chain. */
  readonly guard?: (batch: Batch) => void
}

const { devChain, devBlock, devWaiting } = keys.collections

export class PersistentDevChain {
  readonly chain: DevChain
  readonly #store: Store
  /** The hashes of the blocks that are stored, by height. */
  readonly #blocks: string[]
  /** The transactions that are stored as waiting. */
  #waiting: Map<string, Txid>
  /** The number of reorgs that is stored. */
  #reorgs: number | undefined
  readonly #guard: ((batch: Batch) => void) | undefined
  #saving: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined

  private constructor(
    store: Store,
    chain: DevChain,
    stored: { blocks: string[]; waiting: Map<string, Txid>; reorgs: number | undefined },
    guard: PersistentDevChainOptions['guard']
  ) {
    this.#store = store
    this.#guard = guard
    this.chain = chain
    this.#blocks = stored.blocks
    this.#waiting = stored.waiting
    this.#reorgs = stored.reorgs
  }

  /** The chain that the store has, or a new one. */
  static async open(
    store: Store,
    { guard, ...options }: PersistentDevChainOptions = {}
  ): Promise<PersistentDevChain> {
    const stored = await store.use(devChain).get()
    if (!stored) {
      const nothing = { blocks: [], waiting: new Map(), reorgs: undefined }
      return new PersistentDevChain(store, new DevChain(options), nothing, guard)
    }
    const blocks = await store.use(devBlock).scan([])
    const waiting = await store.use(devWaiting).scan([])
    const chain = DevChain.from(
      {
        network: 'regtest',
        ...stored,
        blocks: blocks.map(({ value }) => value),
        mempool: sortParentsFirst(waiting.map(({ value }) => parseTransaction(value))).map(({ raw }) =>
          toHex(raw)
        )
      },
      options
    )
    return new PersistentDevChain(
      store,
      chain,
      {
        blocks: blocks.map((_, height) => hashAt(chain, height)),
        waiting: new Map(waiting.map(({ key: [txid] }) => [formatTxid(txid), txid])),
        reorgs: stored.reorgs
      },
      guard
    )
  }

  /** Whether the store has nothing that this chain lacks, as another process would have written. */
  async hasAllStored(): Promise<boolean> {
    const [tip] = await this.#store.use(devBlock).scan([], { reverse: true, limit: 1 })
    const isKnown =
      !tip || formatHash(parseHeader(fromHex(tip.value.header)).hash) === hashIfAny(this.chain, tip.key[0])
    const waiting = await this.#store.use(devWaiting).scan([])
    return isKnown && waiting.every(({ key: [txid] }) => this.chain.transaction(txid) !== undefined)
  }

  /** Resolves when everything that the chain has at this moment is durable. Several at once are one. */
  save(): Promise<void> {
    this.#next ??= this.#saving.then(() => {
      this.#next = undefined
      const saved = this.#write()
      this.#saving = saved.catch(() => {
        // The failure rejects its own caller; the next save writes the missing rows.
      })
      return saved
    })
    return this.#next
  }

  async #write(): Promise<void> {
    const { chain } = this
    const batch = this.#store.batch()
    const changed: [height: number, hash: string][] = []
    for (let height = chain.height; height >= 0; height--) {
      const hash = hashAt(chain, height)
      if (this.#blocks[height] === hash) break
      changed.push([height, hash])
      batch
        .use(devBlock)
        .at(height)
        .set({
          header: toHex(chain.header(height)!.header.raw),
          transactions: chain.block(height)!.map(({ raw }) => toHex(raw))
        })
    }
    const waiting = new Map(chain.mempool.map(each => [formatTxid(each.txid), each]))
    const arrived = [...waiting].filter(([name]) => !this.#waiting.has(name))
    const gone = [...this.#waiting].filter(([name]) => !waiting.has(name))
    const { seed, reorgs } = chain
    if (changed.length + arrived.length + gone.length === 0 && reorgs === this.#reorgs) return
    for (const [, { txid, raw }] of arrived) batch.use(devWaiting).at(txid).set(raw)
    for (const [, txid] of gone) batch.use(devWaiting).at(txid).delete()
    batch.use(devChain).at().set({ seed, reorgs })
    this.#guard?.(batch)
    await batch.commit()
    this.#reorgs = reorgs
    for (const [height, hash] of changed) this.#blocks[height] = hash
    this.#waiting = new Map([...waiting].map(([name, { txid }]) => [name, txid]))
  }
}

const hashIfAny = (chain: DevChain, height: number): string | undefined =>
  height <= chain.height ? hashAt(chain, height) : undefined

const hashAt = (chain: DevChain, height: number): string => formatHash(chain.header(height)!.header.hash)
