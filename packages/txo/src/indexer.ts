/**
 * The one way of a transaction into the index (D4): its BEEF is verified, planned with its ancestors and their proofs,
 * and committed whole. A submission to topics adds its admissions to the update between the plan and the commit.
 */
import {
  Beef,
  type Interpreter,
  type RootTracker,
  type Transaction,
  type VerifiedTransactions,
  verifyBeef
} from '@quoin/chain'
import { formatTxid, hasCode, QuoinError, type Txid } from '@quoin/primitives'
import { indexTransaction } from './index-transaction.ts'
import { ancestorUpdate, type IngestPlan, planIngest } from './ingest-plan.ts'
import type { OutputStore } from './output-store.ts'
import { Proofs } from './proofs.ts'
import type { TxUpdate } from './tx-update.ts'

/** The outputs that are indexed: all or none, or all by the parsers with these tags. */
export type IndexDepth = boolean | { readonly tags: readonly string[] }

export interface IndexerOptions {
  /** The depth of subjects; their ancestors are indexed with their spends alone. True unless given. */
  readonly index?: IndexDepth
  /** Runs scripts of no known form, instead of the interpreter that all share. */
  readonly interpreter?: Interpreter
  /** Fetches proofs that a reorg made void. */
  readonly proofs?: Proofs
}

export interface IngestRequest {
  readonly beef: Beef
  /** When the subject was first seen, in unix seconds. */
  readonly seen?: number | undefined
  /** The client on whose behalf scripts run. */
  readonly client?: string | undefined
  /** Nothing is verified but the form of the BEEF. */
  readonly isTrusted?: boolean
}

/** Attempts at an ingest whose reads other commits make stale. */
const ATTEMPTS = 5

/** Repeats work when another commit has changed its reads before its own commit. */
export const retryStale = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === ATTEMPTS || !hasCode(error, 'ERR_STALE_READ')) throw error
    }
  }
}

export class Indexer {
  readonly #outputs: OutputStore
  readonly #tracker: RootTracker
  readonly #proofs: Proofs
  readonly #index: IndexDepth
  readonly #interpreter: Interpreter | undefined

  constructor(outputs: OutputStore, tracker: RootTracker, options: IndexerOptions = {}) {
    this.#outputs = outputs
    this.#tracker = tracker
    this.#proofs = options.proofs ?? new Proofs(outputs, tracker)
    this.#index = options.index ?? true
    this.#interpreter = options.interpreter
  }

  /**
   * Verifies the subject of a BEEF and indexes it; `seen` is when it was first seen, in unix seconds. Returns its txid.
   * Nothing is written when it is invalid, or spends an output that another transaction spends.
   */
  index(beef: Uint8Array | Beef, seen?: number): Promise<Txid> {
    return this.#ingest({ beef: Beef.from(beef), seen }, this.#index)
  }

  /** The same for an ancestor of other transactions: with its spends, and without its outputs. */
  indexAncestor(beef: Uint8Array | Beef, seen?: number): Promise<Txid> {
    return this.#ingest({ beef: Beef.from(beef), seen }, false)
  }

  #ingest(request: IngestRequest, depth: IndexDepth): Promise<Txid> {
    return retryStale(async () => {
      const plan = await this.plan(request)
      await this.commit(plan, await this.update(plan, depth))
      return request.beef.subject
    })
  }

  /** Verifies a BEEF, and plans the commit of its subject. */
  async plan({ beef, seen, client, isTrusted = false }: IngestRequest): Promise<IngestPlan> {
    const { known, transactions } = this.#outputs
    const options = { tracker: this.#tracker, known, interpreter: this.#interpreter, client }
    const content = isTrusted ? contentOf(beef) : await verifyBeef(beef, options)
    const subject = beef.find(beef.subject)?.transaction ?? (await transactions.get(beef.subject))
    if (!subject) throw notStored(beef.subject)
    return planIngest(this.#outputs, subject, content, { seen, isVerified: !isTrusted })
  }

  /** The update of the subject: its outputs and spends, or its spends alone. */
  async update(plan: IngestPlan, depth = this.#index): Promise<TxUpdate> {
    const { subject, position, seen } = plan
    if (!depth) return ancestorUpdate(subject, position, seen)
    const tags = depth === true ? undefined : depth.tags
    return indexTransaction(subject, { seen, position, tags, sources: await plan.loadSources() })
  }

  /** Commits the subject with its ancestors and proofs, and updates of other transactions with it. */
  async commit(plan: IngestPlan, update: TxUpdate, others: readonly TxUpdate[] = []): Promise<void> {
    plan.complete(update)
    await this.#outputs.commit(...plan.ancestors, update, ...others)
    for (const { txid, bump } of plan.checkedProofs) await this.#proofs.recheck(txid, bump)
  }
}

const contentOf = ({ transactions }: Beef): VerifiedTransactions => ({
  transactions: transactions.flatMap(({ transaction }): Transaction[] => (transaction ? [transaction] : [])),
  proofs: transactions.flatMap(({ txid, bump }) => (bump ? [{ txid, bump }] : []))
})

const notStored = (txid: Txid): QuoinError =>
  new QuoinError('ERR_TX_UNKNOWN', `transaction ${formatTxid(txid)} is not stored`, {
    txid: formatTxid(txid)
  })
