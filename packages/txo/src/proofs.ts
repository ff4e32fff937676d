/**
 * Proofs of the index (D8). A proof is checked against the headers before it is stored. A proof that the headers no
 * longer confirm is replaced by a new one, or removed from an unmined transaction, or the transaction is rolled back
 * with its descendants. Each transaction is rescored in a commit of its own.
 */
import type { Bump, ProofSource, RootTracker } from '@quoin/chain'
import { formatTxid, hasCode, QuoinError, type Txid, toHex } from '@quoin/primitives'
import type { OutputStore } from './output-store.ts'
import type { BlockPosition } from './position.ts'
import { TxUpdate } from './tx-update.ts'

/** Transactions with invalid proofs, by the way they were corrected. */
export interface ReconcileResult {
  /** Proved in another block. */
  readonly moved: readonly Txid[]
  /** Unmined. */
  readonly unmined: readonly Txid[]
  /** Rolled back, with their descendants. */
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

  /** Stores the proof of a stored transaction, and rescores its rows by the block position. */
  async save(txid: Txid, bump: Bump): Promise<void> {
    await this.#move(txid, await this.check(txid, bump), bump)
  }

  /**
   * Checks a saved proof again, and corrects it: the reconciliation after a reorg misses a proof that is checked before
   * the reorg and saved after it.
   */
  async recheck(txid: Txid, bump: Bump): Promise<void> {
    if (!(await this.#holds(txid, bump))) await this.#reconcile(txid)
  }

  /** The block position of a proof; refused unless the headers confirm it. */
  async check(txid: Txid, bump: Bump): Promise<BlockPosition> {
    const index = bump.offsetOf(txid)
    if (index === undefined || !(await this.#holds(txid, bump))) {
      throw new QuoinError(
        'ERR_PROOF_INVALID',
        `the merkle root of the proof is not that of the block at height ${bump.height}`,
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
   * Checks the proofs of all transactions mined from a height on, and corrects them: after a reorg, and at the start of
   * a process, which may have missed one. Idempotent.
   */
  async reconcile(from: number): Promise<ReconcileResult> {
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
    const transaction = await this.#outputs.transactions.get(txid)
    if (!transaction || !(await this.#isWrong(txid))) return undefined
    const found = await this.#source?.proof(txid)
    if (found?.status === 'mined') {
      const position = await this.check(txid, found.bump)
      return (await this.#isRefused(() => this.#move(txid, position, found.bump))) ? undefined : 'moved'
    }
    // A proof may have been saved while the source was asked.
    if (!(await this.#isWrong(txid))) return undefined
    // A coinbase is part of its block, and a transaction unknown to the source is not expected to be mined.
    if (found?.status === 'unknown' || transaction.isCoinbase) return this.#outputs.rollback(txid)
    return (await this.#isRefused(() => this.#unmine(txid))) ? undefined : 'unmined'
  }

  /** Whether its proof is stored and not confirmed by the headers. */
  async #isWrong(txid: Txid): Promise<boolean> {
    const bump = await this.#outputs.transactions.proof(txid)
    return bump !== undefined && !(await this.#holds(txid, bump))
  }

  /** Whether another process corrected the proof before the act. */
  async #isRefused(act: () => Promise<void>): Promise<boolean> {
    try {
      await act()
      return false
    } catch (error) {
      if (error instanceof ProofCorrectedError) return true
      if (hasCode(error, 'ERR_TX_UNKNOWN')) return true
      throw error
    }
  }

  async #move(txid: Txid, position: BlockPosition, bump: Bump): Promise<void> {
    const change = await this.#change(txid, position)
    change.markProved().addWrites(batch => this.#outputs.transactions.saveProofIn(batch, txid, bump))
    await this.#commit(change)
    await this.recheck(txid, bump)
  }

  async #unmine(txid: Txid): Promise<void> {
    const change = await this.#change(txid, null)
    change.markProved().addWrites(async batch => {
      if (!(await this.#isWrong(txid))) throw new ProofCorrectedError()
      this.#outputs.transactions.removeProofIn(batch, txid)
    })
    await this.#commit(change)
  }

  async #commit(change: TxUpdate): Promise<void> {
    try {
      await this.#outputs.commit(change)
    } catch (error) {
      // Rolled back after it was read.
      if (hasCode(error, 'ERR_STALE_READ')) throw notStored(change.txid)
      throw error
    }
  }

  /** Refused when the transaction is not stored, or rolled back before the commit. */
  async #change(txid: Txid, position: BlockPosition | null): Promise<TxUpdate> {
    const record = await this.#outputs.record(txid)
    if (!(await this.#outputs.transactions.get(txid))) throw notStored(txid)
    const change = new TxUpdate(txid, { position })
    // A transaction that is stored as an ancestor only may have no record.
    return record ? change.dependOn(txid) : change
  }
}

/** Another process corrected the proof. */
class ProofCorrectedError extends Error {}

const notStored = (txid: Txid): QuoinError =>
  new QuoinError('ERR_TX_UNKNOWN', 'the transaction of the proof is not stored', {
    txid: formatTxid(txid)
  })
