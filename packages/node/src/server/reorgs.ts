/** Reorgs: when blocks leave the chain of most work, what they proved is proved anew, waits again, or is taken back. */
import type { HeaderStore } from '@quoin/chain'
import type { Logger } from '@quoin/overlay'
import type { Proofs } from '@quoin/txo'

const RETRY_MS = 10_000

export class Reorgs {
  readonly #proofs: Proofs
  readonly #logger: Logger
  readonly #ignore: () => void
  #working: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(headers: HeaderStore, proofs: Proofs, logger: Logger) {
    this.#proofs = proofs
    this.#logger = logger
    this.#ignore = headers.onReorg(({ fork, removed }) => {
      logger.warn('reorg', { fork, blocks: removed.length })
      void this.reconcile(fork + 1)
    })
  }

  /** Puts right what is proved from a height on; tried again while a source cannot be asked. */
  reconcile(from: number): Promise<void> {
    this.#working = this.#working.then(() => this.#reconcile(from))
    return this.#working
  }

  async #reconcile(from: number): Promise<void> {
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
      const reason = error instanceof Error ? error.message : String(error)
      this.#logger.error('cannot reconcile', { from, reason })
      if (this.#closed) return
      this.#timer = setTimeout(() => void this.reconcile(from), RETRY_MS).unref()
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#ignore()
    clearTimeout(this.#timer)
    await this.#working
  }
}
