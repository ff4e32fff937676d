/** Reorgs: transactions whose blocks left the best chain get new proofs, become unmined, or are rolled back. */
import { type ChainHeader, type HeaderStore, MAX_SIDE_DEPTH } from '@quoin/chain'
import type { Logger } from '@quoin/overlay'
import { equalBytes, reasonOf, Task, type TaskGate } from '@quoin/primitives'
import type { Proofs } from '@quoin/txo'

/** Milliseconds between passes, which find reorgs of headers that another process added. */
const INTERVAL_MS = 5000
/**
 * Milliseconds after a reorg at which the proofs are checked once more. A process that checked a proof before the reorg
 * and saved it afterwards checks it again, unless it was killed in between.
 */
const SECOND_CHECK_MS = 30_000

export class Reorgs {
  readonly #proofs: Proofs
  readonly #logger: Logger
  readonly #headers: HeaderStore
  readonly #task: Task
  readonly #gate: TaskGate
  readonly #unsubscribe: readonly (() => void)[]
  /** The tip of the last pass. */
  #tip: ChainHeader | undefined
  /** The lowest height whose proofs are to be checked; undefined when all are. */
  #from: number | undefined
  #secondCheck: { readonly from: number; readonly at: number } | undefined
  /** A process that begins checks the proofs of all blocks that a reorg can replace. */
  #isBeginning = true

  constructor(headers: HeaderStore, proofs: Proofs, logger: Logger, gate: TaskGate) {
    this.#headers = headers
    this.#proofs = proofs
    this.#logger = logger
    this.#gate = gate
    this.#task = new Task({ name: 'reorgs', interval: INTERVAL_MS, gate, work: () => this.#reconcile() })
    this.#unsubscribe = [
      headers.onReorg(({ fork, removed }, tip) => {
        logger.warn('reorg', { fork, blocks: removed.length })
        this.#tip = tip
        this.#checkFrom(fork + 1)
        void this.#task.runOnce()
      }),
      gate.onOpen(() => {
        this.#isBeginning = true
      })
    ]
  }

  /** Resolves after the first attempt; a failed one is repeated. */
  async start(): Promise<void> {
    if (this.#gate.signal) await this.#task.runOnce()
    this.#task.start()
  }

  async #reconcile(): Promise<void> {
    await this.#findFork()
    if (this.#secondCheck && performance.now() >= this.#secondCheck.at) {
      this.#lower(this.#secondCheck.from)
      this.#secondCheck = undefined
    }
    const from = this.#from
    if (from === undefined) return
    this.#from = undefined
    try {
      const { moved, unmined, removed } = await this.#proofs.reconcile(from)
      if (moved.length + unmined.length + removed.length === 0) return
      this.#logger.warn('reconciled', {
        from,
        moved: moved.length,
        unmined: unmined.length,
        removed: removed.length
      })
    } catch (error) {
      // Another reorg may have come meanwhile.
      this.#lower(from)
      this.#logger.error('cannot reconcile', { from, reason: reasonOf(error) })
      throw error
    }
  }

  /** Compares the tip of the last pass with the chain of most work. */
  async #findFork(): Promise<void> {
    const tip = await this.#headers.tip()
    const before = this.#tip
    this.#tip = tip
    if (this.#isBeginning) this.#lower(Math.max(0, tip.height - MAX_SIDE_DEPTH))
    this.#isBeginning = false
    if (!before || isSame(before, tip)) return
    const { fork } = await this.#headers.removedSince(before)
    if (!fork) return
    if (fork.height < before.height)
      this.#logger.warn('reorg', { fork: fork.height, blocks: before.height - fork.height })
    // Another process may have added blocks after the last pass, and replaced them.
    this.#checkFrom(fork.height + 1)
  }

  #checkFrom(height: number): void {
    this.#lower(height)
    this.#secondCheck = {
      from: Math.min(height, this.#secondCheck?.from ?? height),
      at: performance.now() + SECOND_CHECK_MS
    }
  }

  #lower(from: number): void {
    this.#from = Math.min(from, this.#from ?? from)
  }

  close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    return this.#task.stop()
  }
}

const isSame = (a: ChainHeader, b: ChainHeader): boolean => equalBytes(a.header.hash, b.header.hash)
