/** Reorgs: transactions whose blocks left the best chain get new proofs, become unmined, or are rolled back. */
import { type HeaderStore, MAX_SIDE_DEPTH } from '@quoin/chain'
import type { Logger } from '@quoin/overlay'
import { reasonOf, Task, type TaskGate } from '@quoin/primitives'
import type { Proofs } from '@quoin/txo'

const RETRY_MS = 10_000

export class Reorgs {
  readonly #proofs: Proofs
  readonly #logger: Logger
  readonly #headers: HeaderStore
  readonly #task: Task
  readonly #gate: TaskGate
  readonly #unsubscribe: readonly (() => void)[]
  /** The lowest height whose proofs are to be checked; undefined when all are. */
  #from: number | undefined
  /** A process that begins checks the proofs of all blocks that a reorg can replace. */
  #isBeginning = true

  /** @param gate Open in the process that adds headers, which learns of the reorgs. */
  constructor(headers: HeaderStore, proofs: Proofs, logger: Logger, gate: TaskGate) {
    this.#headers = headers
    this.#proofs = proofs
    this.#logger = logger
    this.#gate = gate
    this.#task = new Task({ name: 'reorgs', interval: RETRY_MS, gate, work: () => this.#reconcile() })
    this.#unsubscribe = [
      headers.onReorg(({ fork, removed }) => {
        logger.warn('reorg', { fork, blocks: removed.length })
        this.#from = Math.min(fork + 1, this.#from ?? fork + 1)
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
    if (this.#isBeginning) {
      const recent = Math.max(0, (await this.#headers.currentHeight()) - MAX_SIDE_DEPTH)
      this.#from = Math.min(recent, this.#from ?? recent)
      this.#isBeginning = false
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
      this.#from = Math.min(from, this.#from ?? from)
      this.#logger.error('cannot reconcile', { from, reason: reasonOf(error) })
      throw error
    }
  }

  close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    return this.#task.stop()
  }
}
