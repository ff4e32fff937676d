/**
 * The indexer: verifies BEEF, and commits each transaction with its ancestors, their proofs and spends, and its parsed
 * outputs (D4).
 */

import { Beef, type Interpreter, type RootTracker, type Verified, verifyBeef } from '@quoin/chain'
import { formatTxid, hasCode, QuoinError, type Txid } from '@quoin/primitives'
import { indexTransaction } from './index-transaction.ts'
import { ancestorChange, planIngest } from './ingest-plan.ts'
import type { OutputStore } from './output-store.ts'
import { Proofs } from './proofs.ts'
import type { TxUpdate } from './tx-update.ts'

export interface IndexerOptions {
  /** Parsers to use, by tag; all unless given. */
  readonly tags?: readonly string[]
  /** Runs scripts of no known form, instead of the interpreter that all share. */
  readonly interpreter?: Interpreter
}

/** What of a transaction is indexed. */
type Depth = 'outputs and spends' | 'spends'

/** So often what was known may be taken back while the rest is verified. */
const ATTEMPTS = 10

export class Indexer {
  readonly #outputs: OutputStore
  readonly #tracker: RootTracker
  readonly #proofs: Proofs
  readonly #tags: readonly string[] | undefined
  readonly #interpreter: Interpreter | undefined

  constructor(outputs: OutputStore, tracker: RootTracker, { tags, interpreter }: IndexerOptions = {}) {
    this.#outputs = outputs
    this.#tracker = tracker
    this.#proofs = new Proofs(outputs, tracker)
    this.#tags = tags
    this.#interpreter = interpreter
  }

  /**
   * Verifies the subject of a BEEF and indexes it; `seen` is when it was first seen, in unix seconds. Answers its txid.
   * Nothing is written when it does not hold, or spends what another transaction spends.
   */
  index(bytes: Uint8Array, seen?: number): Promise<Txid> {
    return this.#commit(bytes, seen, 'outputs and spends')
  }

  /** The same as an ancestor of other transactions: with its spends, and without its outputs. */
  indexAncestor(bytes: Uint8Array, seen?: number): Promise<Txid> {
    return this.#commit(bytes, seen, 'spends')
  }

  async #commit(bytes: Uint8Array, seen: number | undefined, depth: Depth): Promise<Txid> {
    const beef = Beef.parse(bytes)
    for (let attempt = 1; ; attempt++) {
      const { known } = this.#outputs.transactions
      const options = { tracker: this.#tracker, known, interpreter: this.#interpreter }
      const verified = await verifyBeef(beef, options)
      try {
        await this.#outputs.commit(...(await this.#changes(beef, verified, seen, depth)))
        for (const { txid, bump } of verified.proofs) await this.#proofs.recheck(txid, bump)
        return beef.subject
      } catch (error) {
        // Something that was known has been taken back meanwhile: it has to be verified like anything else.
        const isStale = hasCode(error, 'ERR_STALE_READ')
        if (!isStale || attempt === ATTEMPTS) throw error
      }
    }
  }

  async #changes(
    beef: Beef,
    verified: Verified,
    seen: number | undefined,
    depth: Depth
  ): Promise<TxUpdate[]> {
    const { transactions } = this.#outputs
    const subject = beef.find(beef.subject)?.transaction ?? (await transactions.get(beef.subject))
    if (!subject) throw notStored(beef.subject)
    const intake = planIngest(this.#outputs, subject, verified, { seen, verified: true })
    const { position } = intake
    const change =
      depth === 'spends'
        ? ancestorChange(subject, position, seen)
        : indexTransaction(subject, { seen, position, tags: this.#tags, sources: await intake.sources() })
    intake.complete(change)
    return [...intake.changes, change]
  }
}

const notStored = (txid: Txid): QuoinError =>
  new QuoinError('ERR_TX_UNKNOWN', `transaction ${formatTxid(txid)} is not stored`, {
    txid: formatTxid(txid)
  })
