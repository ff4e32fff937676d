/**
 * Proofs and the index (D8): a proof is checked against the headers before anything believes it, and what the headers
 * no longer bear out is fetched anew, or the transaction goes back to waiting, or it is taken back with everything
 * downstream. Each transaction moves in a commit of its own, with all its scores.
 */
import type { Bump, ProofSource, RootTracker } from '@quoin/chain'
import { formatTxid, QuoinError, type Txid, toHex } from '@quoin/primitives'
import type { OutputStore } from './output-store.ts'
import type { BlockPosition } from './position.ts'
import { TxUpdate } from './tx-update.ts'

/** What became of transactions whose proofs no longer hold. */
export interface ReconcileResult {
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
    await this.#move(txid, await this.check(txid, bump), bump)
  }

  /**
   * Looks once more at a proof that was saved, and puts right what the headers do not bear out: a reorg may have come
   * since it was checked, and whoever reconciled then did not find it saved yet.
   */
  async recheck(txid: Txid, bump: Bump): Promise<void> {
    if (!(await this.#holds(txid, bump))) await this.#reconcile(txid)
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
    // A source takes its time, and a proof may have come meanwhile.
    if (!(await this.#isWrong(txid))) return undefined
    // A coinbase belongs to its block, and what its source no longer knows will not come back.
    if (found?.status === 'unknown' || transaction.isCoinbase) return this.#outputs.rollback(txid)
    return (await this.#isRefused(() => this.#unmine(txid))) ? undefined : 'unmined'
  }

  /** Whether it has a proof that the headers do not bear out. */
  async #isWrong(txid: Txid): Promise<boolean> {
    const bump = await this.#outputs.transactions.proof(txid)
    return bump !== undefined && !(await this.#holds(txid, bump))
  }

  /** Whether there is nothing to put right any more. */
  async #isRefused(act: () => Promise<void>): Promise<boolean> {
    try {
      await act()
      return false
    } catch (error) {
      if (error instanceof ProofCorrectedError) return true
      if (error instanceof QuoinError && error.code === 'ERR_TX_UNKNOWN') return true
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
      // Rolled back since it was read.
      if (error instanceof QuoinError && error.code === 'ERR_STALE_READ') throw notStored(change.txid)
      throw error
    }
  }

  /** Refused when the transaction is not stored, or has been taken back when it is committed. */
  async #change(txid: Txid, position: BlockPosition | null): Promise<TxUpdate> {
    const record = await this.#outputs.record(txid)
    if (!(await this.#outputs.transactions.get(txid))) throw notStored(txid)
    const change = new TxUpdate(txid, { position })
    // One that is stored only because others rest on it may have no record.
    return record ? change.dependOn(txid) : change
  }
}

/** Somebody else has put it right. */
class ProofCorrectedError extends Error {}

const notStored = (txid: Txid): QuoinError =>
  new QuoinError('ERR_TX_UNKNOWN', 'the proof is of a transaction that is not stored', {
    txid: formatTxid(txid)
  })
