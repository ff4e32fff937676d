/** Reorgs: transactions whose blocks left the best chain get new proofs, become unmined, or are rolled back. */
import type { HeaderStore } from '@quoin/chain'
import type { Logger } from '@quoin/overlay'
import { reasonOf, Task } from '@quoin/primitives'
import type { Proofs } from '@quoin/txo'

const RETRY_MS = 10_000

export class Reorgs {
  readonly #proofs: Proofs
  readonly #logger: Logger
  readonly #task: Task
  readonly #unsubscribe: () => void
  /** The lowest height whose proofs are to be checked; undefined when all are. */
  #from: number | undefined

  constructor(headers: HeaderStore, proofs: Proofs, logger: Logger) {
    this.#proofs = proofs
    this.#logger = logger
    this.#task = new Task({ name: 'reorgs', interval: RETRY_MS, work: () => this.#reconcile() }).start()
    this.#unsubscribe = headers.onReorg(({ fork, removed }) => {
      logger.warn('reorg', { fork, blocks: removed.length })
      void this.reconcile(fork + 1)
    })
  }

  /** Checks the proofs from a height on. Resolves after one attempt; a failed one is repeated. */
  async reconcile(from: number): Promise<void> {
    this.#from = Math.min(from, this.#from ?? from)
    await this.#task.runOnce()
  }

  async #reconcile(): Promise<void> {
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
    this.#unsubscribe()
    return this.#task.stop()
  }
}
