/**
 * Staged transactions, the orphan pool of the pipeline: transactions from sources, stored one by one as unverified BEEF
 * until the index has them. Submitting one requires its ancestry back to mined transactions, from the staging area and
 * from the index.
 */
import { Beef, type BeefTransaction, type Transaction, writeBeef } from '@quoin/chain'
import { bytesKey, equalBytes, QuoinError, type Txid } from '@quoin/primitives'
import type { Batch } from '@quoin/store'
import type { OutputStore } from '@quoin/txo'
import { bsv21 } from '../keys.ts'

const { arrived } = bsv21.collections

/** Unmined ancestors that a transaction may have. */
const MAX_ANCESTORS = 1000

/** Parsed transactions in the cache, and the size limit of each in bytes. */
const MAX_PARSED = 4000
const MAX_PARSED_BYTES = 10_000

/** Ancestry checks in the cache, and their lifetime in milliseconds. */
const MAX_CHECKS = 100_000
const CHECK_TTL_MS = 60_000

/** A transaction with its unverified ancestors, parents first; or the missing ancestors. */
export type AncestryResult =
  | {
      readonly subject: BeefTransaction
      readonly ancestors: readonly BeefTransaction[]
      readonly missing: undefined
    }
  | { readonly missing: readonly Txid[] }

/** A transaction with complete ancestry, or the missing ancestors. */
export type AncestryCheck =
  | { readonly subject: BeefTransaction; readonly missing: undefined }
  | { readonly missing: readonly Txid[] }

/** The subject of a BEEF is its last transaction. */
export const beefOf = ({ subject, ancestors }: AncestryResult & { missing: undefined }): Beef =>
  Beef.of([...ancestors, subject])

export class StagedTransactions {
  readonly #outputs: OutputStore
  /** Parsed transactions with their source bytes. */
  readonly #parsed = new Map<string, { bytes: Uint8Array; transaction: BeefTransaction }>()
  /** Missing ancestors by txid: checks in progress, and checks that found none. */
  readonly #checks = new Map<string, Promise<readonly Txid[]>>()
  #checksExpireAt = 0

  constructor(outputs: OutputStore) {
    this.#outputs = outputs
  }

  /** Stages each transaction of a BEEF with its own proof. Txid-only entries are skipped. */
  saveIn(batch: Batch, beef: Beef): void {
    for (const { txid, transaction, bump } of beef.transactions) {
      if (!transaction) continue
      const staged = { txid, transaction, bump: bump?.trimmedTo(txid) }
      const bytes = writeBeef({ version: 1, transactions: [staged] })
      batch.use(arrived).at(txid).set(bytes)
      // A parsed transaction is a view of the whole BEEF, which the cache keeps alive.
      if (transaction.raw.buffer.byteLength <= MAX_PARSED_BYTES) this.#cache(bytes, staged)
    }
  }

  removeIn(batch: Batch, txid: Txid): void {
    batch.use(arrived).at(txid).delete()
  }

  /** Reads a transaction with its proof. The staged copy has precedence over the indexed one. */
  async load(txid: Txid): Promise<BeefTransaction | undefined> {
    const { store, transactions } = this.#outputs
    const bytes = await store.use(arrived).get(txid)
    const staged = bytes && this.#parse(txid, bytes)
    if (staged?.bump) return staged
    const transaction = staged?.transaction ?? (await transactions.get(txid))
    return transaction && { txid, transaction, bump: await transactions.proof(txid) }
  }

  /** Cached, because successive stages parse the same bytes. */
  #parse(txid: Txid, bytes: Uint8Array): BeefTransaction {
    const cached = this.#parsed.get(bytesKey(txid))
    if (cached && equalBytes(cached.bytes, bytes)) return cached.transaction
    const transaction = Beef.parse(bytes).transactions[0]!
    if (bytes.length <= MAX_PARSED_BYTES) this.#cache(bytes, transaction)
    return transaction
  }

  #cache(bytes: Uint8Array, transaction: BeefTransaction): void {
    if (this.#parsed.size >= MAX_PARSED) this.#parsed.clear()
    this.#parsed.set(bytesKey(transaction.txid), { bytes, transaction })
  }

  /** The transactions of a list that are staged with a proof. */
  async withProofs(txids: readonly Txid[]): Promise<Txid[]> {
    const staged = await this.#outputs.store.use(arrived).getMany(txids.map(txid => [txid]))
    return txids.filter((txid, i) => staged[i] && this.#parse(txid, staged[i]).bump)
  }

  /** Whether at least one transaction of a list is staged. */
  async hasAny(txids: readonly Txid[]): Promise<boolean> {
    const staged = await this.#outputs.store.use(arrived).getMany(txids.map(txid => [txid]))
    return staged.some(bytes => bytes !== undefined)
  }

  /** Whether a transaction is staged or indexed. */
  async has(txid: Txid): Promise<boolean> {
    return (await this.load(txid)) !== undefined
  }

  /**
   * Collects the ancestors that the index has not verified. `beforeParents` runs before the parents are loaded: callers
   * await in-flight submissions of the parents there.
   */
  async assemble(
    txid: Txid,
    beforeParents?: (transaction: Transaction) => Promise<void>
  ): Promise<AncestryResult> {
    const found = new Map<string, BeefTransaction>()
    const missing: Txid[] = []
    let pending = [txid]
    while (pending.length > 0) {
      if (found.size + pending.length > MAX_ANCESTORS) {
        throw new QuoinError('ERR_BEEF_LIMIT', `more than ${MAX_ANCESTORS} unmined ancestors`)
      }
      const loaded = await Promise.all(pending.map(each => this.load(each)))
      if (found.size === 0 && loaded[0]?.transaction) await beforeParents?.(loaded[0].transaction)
      const parents = new Map<string, Txid>()
      for (const [i, each] of loaded.entries()) {
        if (!each) {
          missing.push(pending[i]!)
          continue
        }
        found.set(bytesKey(each.txid), each)
        if (each.bump) continue
        for (const input of each.transaction!.inputs) parents.set(bytesKey(input.txid), input.txid)
      }
      for (const key of found.keys()) parents.delete(key)
      pending = await this.#unverified([...parents.values()])
    }
    if (missing.length > 0) {
      // A rollback since the last check invalidates the cached results.
      this.#checks.clear()
      return { missing }
    }
    const [subject, ...ancestors] = [...found.values()] as [BeefTransaction, ...BeefTransaction[]]
    return { subject, ancestors: ancestors.reverse(), missing: undefined }
  }

  /** Reads a transaction if its ancestry is complete; returns the missing ancestors otherwise. */
  async checkAncestry(txid: Txid): Promise<AncestryCheck> {
    const subject = await this.load(txid)
    const missing = subject ? await this.#missingAncestors(subject) : [txid]
    return subject && missing.length === 0 ? { subject, missing: undefined } : { missing }
  }

  /** Ancestors that are neither staged nor indexed. Memoized per txid, so a chain is walked once. */
  async #missingAncestors(transaction: BeefTransaction): Promise<readonly Txid[]> {
    if (transaction.bump) return []
    const key = bytesKey(transaction.txid)
    // Expiry bounds the time during which a rollback by another process goes unnoticed.
    if (this.#checks.size >= MAX_CHECKS || performance.now() > this.#checksExpireAt) {
      this.#checks.clear()
      this.#checksExpireAt = performance.now() + CHECK_TTL_MS
    }
    const check = this.#checks.get(key) ?? this.#walkParents(transaction)
    this.#checks.set(key, check)
    let missing: readonly Txid[] | undefined
    try {
      missing = await check
      return missing
    } finally {
      if (missing?.length !== 0) this.#checks.delete(key)
    }
  }

  async #walkParents({ transaction }: BeefTransaction): Promise<readonly Txid[]> {
    const parents = new Map(transaction!.inputs.map(({ txid }) => [bytesKey(txid), txid]))
    const missing = new Map<string, Txid>()
    for (const txid of await this.#unverified([...parents.values()])) {
      const parent = await this.load(txid)
      const ancestors = parent ? await this.#missingAncestors(parent) : [txid]
      for (const each of ancestors) missing.set(bytesKey(each), each)
    }
    return [...missing.values()]
  }

  async #unverified(txids: readonly Txid[]): Promise<Txid[]> {
    if (txids.length === 0) return []
    const areVerified = await this.#outputs.transactions.areVerified(txids)
    return txids.filter((_, i) => !areVerified[i])
  }
}
