/**
 * Proofs and the index (D8): a proof is checked against the headers before anything believes it, and what the headers
 * no longer bear out is fetched anew, or the transaction goes back to waiting, or it is taken back with everything
 * downstream. Each transaction moves in a commit of its own, with all its scores.
 */
import type { Bump, ProofSource, RootTracker } from '../chain/index.ts'
import { formatTxid, QuoinError, type Txid, toHex } from '../keyspace/index.ts'
import type { OutputStore } from './output-store.ts'
import type { BlockPosition } from './position.ts'

/** What became of transactions whose proofs no longer hold. */
export interface Reconciled {
  /** Proved in another block. */
  readonly moved: readonly Txid[]
  /** Not mined any more, as far as anyone knows. */
  readonly unmined: readonly Txid[]
  /** Taken back, with everything downstream. */
  readonly removed: readonly Txid[]
}

export class Proofs {
  readonly #outputs: OutputStore
  readonly #tracker: RootTracker
  readonly #source: ProofSource | undefined

  constructor(outputs: OutputStore, tracker: RootTracker, source?: ProofSource) {
    this.#outputs = outputs
    this.#tracker = tracker
    this.#source = source
  }

  /** Stores the proof of a transaction that is stored, and moves everything of it to its place in the chain. */
  async save(txid: Txid, bump: Bump): Promise<void> {
    const position = await this.check(txid, bump)
    const { transactions } = this.#outputs
    if (!(await transactions.get(txid))) {
      throw new QuoinError('ERR_TX_UNKNOWN', 'the proof is of a transaction that is not stored', {
        txid: formatTxid(txid)
      })
    }
    await this.#move(txid, position, bump)
  }

  /** Where a proof puts a transaction; refused when the headers do not bear it out. */
  async check(txid: Txid, bump: Bump): Promise<BlockPosition> {
    const index = bump.offsetOf(txid)
    if (index === undefined || !(await this.#holds(txid, bump))) {
      throw new QuoinError(
        'ERR_PROOF_INVALID',
        `the proof does not lead to the block at height ${bump.height}`,
        {
          txid: formatTxid(txid),
          height: bump.height
        }
      )
    }
    return { height: bump.height, index: BigInt(index) }
  }

  async #holds(txid: Txid, bump: Bump): Promise<boolean> {
    const root = bump.rootOf(txid)
    return (
      root !== undefined && this.#tracker.isValidRootForHeight(toHex(root.slice().reverse()), bump.height)
    )
  }

  /**
   * Looks at every transaction that is mined from a height on, and puts right what the headers do not bear out: after
   * a reorg, and when a process starts that may have missed one. Doing it again changes nothing.
   */
  async reconcile(from: number): Promise<Reconciled> {
    const [moved, unmined, removed]: Txid[][] = [[], [], []]
    for (const txid of await this.#outputs.transactions.minedBetween(from)) {
      const outcome = await this.#reconcile(txid)
      if (outcome === 'moved') moved!.push(txid)
      else if (outcome === 'unmined') unmined!.push(txid)
      else if (outcome) removed!.push(...outcome)
    }
    return { moved: moved!, unmined: unmined!, removed: removed! }
  }

  async #reconcile(txid: Txid): Promise<'moved' | 'unmined' | readonly Txid[] | undefined> {
    const { transactions } = this.#outputs
    const [transaction, bump] = [await transactions.get(txid), await transactions.proof(txid)]
    // Taken back with another one, or unmined, since it was listed.
    if (!transaction || !bump || (await this.#holds(txid, bump))) return undefined
    const found = await this.#source?.proof(txid)
    if (found?.status === 'mined') {
      await this.#move(txid, await this.check(txid, found.bump), found.bump)
      return 'moved'
    }
    // A coinbase belongs to its block, and what its source no longer knows will not come back.
    if (found?.status === 'unknown' || transaction.isCoinbase) return this.#outputs.rollback(txid)
    await this.#outputs.move(txid, null, batch => transactions.removeProofIn(batch, txid))
    return 'unmined'
  }

  /** A transaction that is stored only because others rest on it may have no place in the index to move. */
  async #move(txid: Txid, position: BlockPosition, bump: Bump): Promise<void> {
    const { transactions } = this.#outputs
    await this.#outputs.move(txid, position, batch => transactions.saveProofIn(batch, txid, bump))
  }
}
