/**
 * Raw transactions and proofs (D5), stored once each by txid. Writes go into the caller's batch, since a transaction is
 * stored in the commit that uses it. BEEF is assembled on demand.
 */
import { bytesKey, formatTxid, QuoinError, type Txid } from '@quoin/primitives'
import { ask, type Batch, type ReadPlan, type StoreReads } from '@quoin/store'
import { type BeefTransaction, writeBeef } from './beef.ts'
import { chain, type StoredTransaction } from './keys.ts'
import { Bump } from './merkle/bump.ts'
import { parseTransaction, type Transaction } from './transaction.ts'
import type { KnownLookup, KnownTransaction } from './verify/unverified-ancestry.ts'

const { transaction: transactions, proof: proofs, log } = chain.collections
const MINED = log.encode('mined')

export interface BeefOptions {
  /** 1 by default. */
  readonly version?: 1 | 2
  /** BRC-95: prefixed with the subject's txid. */
  readonly atomic?: boolean
  /**
   * Whether to open a transaction: it comes without its proof and with its stored parents, so that a client which stops
   * at proofs walks through it (D5).
   */
  readonly open?: (txid: Txid) => boolean
}

/** Transactions of the largest BEEF. */
const MAX_TRANSACTIONS = 100_000

export class TransactionStore {
  readonly #reads: StoreReads

  constructor(reads: StoreReads) {
    this.#reads = reads
  }

  async get(txid: Txid): Promise<Transaction | undefined> {
    const stored = await this.#reads.use(transactions).get(txid)
    return stored && parseTransaction(stored.raw)
  }

  async getMany(txids: readonly Txid[]): Promise<(Transaction | undefined)[]> {
    return this.#reads.run(this.planMany(txids))
  }

  /** The same as part of a plan. */
  *planMany(txids: readonly Txid[]): ReadPlan<(Transaction | undefined)[]> {
    return (yield* this.#stored(txids)).map(stored => stored && parseTransaction(stored.raw))
  }

  *#stored(txids: readonly Txid[]): ReadPlan<(StoredTransaction | undefined)[]> {
    return txids.length > 0 ? yield* this.#reads.use(transactions).planMany(txids.map(txid => [txid])) : []
  }

  /** Verified transactions with the heights of their proofs, as `verifyBeef` asks for them. */
  readonly known: KnownLookup = txids => this.#reads.run(this.planKnown(txids));

  /** The same as part of a plan. */
  *planKnown(txids: readonly Txid[]): ReadPlan<(KnownTransaction | undefined)[]> {
    const stored = yield* this.#stored(txids)
    const verified = txids.filter((_, i) => stored[i]?.verified)
    const scores = verified.length > 0 ? yield* ask(reads => reads.zscores([MINED], verified)) : []
    let place = 0
    return stored.map(each => {
      if (!each?.verified) return undefined
      const [score] = scores[place++]!
      return {
        transaction: parseTransaction(each.raw),
        height: score === undefined ? undefined : Math.floor(score)
      }
    })
  }

  /** Whether each transaction was verified. */
  async areVerified(txids: readonly Txid[]): Promise<boolean[]> {
    return (await this.#reads.run(this.#stored(txids))).map(each => each?.verified === true)
  }

  async proof(txid: Txid): Promise<Bump | undefined> {
    const bytes = await this.#reads.use(proofs).get(txid)
    return bytes && Bump.written(bytes, txid)
  }

  async proofs(txids: readonly Txid[]): Promise<(Bump | undefined)[]> {
    const stored = await this.#reads.use(proofs).getMany(txids.map(txid => [txid]))
    return stored.map((bytes, i) => bytes && Bump.written(bytes, txids[i]!))
  }

  /** Transactions with proofs in a range of heights, both ends included, in block order. */
  async minedBetween(from: number, to = Number.POSITIVE_INFINITY): Promise<Txid[]> {
    const rows = await this.#reads
      .use(log)
      .at('mined')
      .range({
        min: from,
        max: to === Number.POSITIVE_INFINITY ? to : to + 1,
        maxExclusive: to !== Number.POSITIVE_INFINITY
      })
    return rows.map(({ member }) => member)
  }

  saveIn(batch: Batch, transaction: Transaction, { verified }: { readonly verified: boolean }): void {
    batch.use(transactions).at(transaction.txid).set({ verified, raw: transaction.raw })
  }

  /** Saves a proof that was checked against the headers, reduced to this transaction. */
  saveProofIn(batch: Batch, txid: Txid, bump: Bump): void {
    const index = bump.offsetOf(txid)
    if (index === undefined) {
      throw new QuoinError('ERR_PROOF_INVALID', 'the proof is of other transactions', {
        txid: formatTxid(txid)
      })
    }
    batch.use(proofs).at(txid).set(bump.trimmedTo(txid).toBytes())
    batch
      .use(log)
      .at('mined')
      .add(txid, bump.height + index / 1e9)
  }

  removeProofIn(batch: Batch, txid: Txid): void {
    batch.use(proofs).at(txid).delete()
    batch.use(log).at('mined').delete(txid)
  }

  removeIn(batch: Batch, txid: Txid): void {
    this.removeProofIn(batch, txid)
    batch.use(transactions).at(txid).delete()
  }

  /** BEEF of a transaction with its ancestry back to proofs. Throws `ERR_TX_UNKNOWN` for a missing ancestor. */
  async beef(txid: Txid, options: BeefOptions = {}): Promise<Uint8Array> {
    const found = await this.ancestry([txid], options.open)
    return writeBeef({
      version: options.version ?? 1,
      ...(options.atomic && { atomic: txid }),
      transactions: found
    })
  }

  /** Transactions and their ancestry, each once. */
  async ancestry(txids: readonly Txid[], open?: (txid: Txid) => boolean): Promise<BeefTransaction[]> {
    return [...(await this.ancestryByName(txids, open)).values()]
  }

  /** `ancestry` by the `bytesKey` of the txids. */
  async ancestryByName(
    txids: readonly Txid[],
    open: (txid: Txid) => boolean = () => false
  ): Promise<ReadonlyMap<string, BeefTransaction>> {
    const found = new Map<string, BeefTransaction>()
    let wanted = byName(txids)
    while (wanted.size > 0) {
      if (found.size + wanted.size > MAX_TRANSACTIONS) {
        throw new QuoinError('ERR_BEEF_LIMIT', `more than ${MAX_TRANSACTIONS} transactions are needed`)
      }
      const these = [...wanted.values()]
      const [stored, bumps] = await Promise.all([this.getMany(these), this.proofs(these)])
      const parents: Txid[] = []
      let i = 0
      for (const [name, txid] of wanted) {
        const transaction = stored[i]
        const bump = bumps[i++]
        if (!transaction) {
          throw new QuoinError('ERR_TX_UNKNOWN', `transaction ${formatTxid(txid)} is not stored`, {
            txid: formatTxid(txid)
          })
        }
        const opened = bump && open(txid) && (await this.#hasParents(transaction))
        found.set(name, { txid, transaction, bump: opened ? undefined : bump })
        if (!bump || opened) for (const parent of transaction.spentTxids()) parents.push(parent)
      }
      wanted = byName(parents)
      for (const name of wanted.keys()) if (found.has(name)) wanted.delete(name)
    }
    return found
  }

  /** Whether all parents of a transaction are stored, so that it can be opened. */
  async #hasParents(transaction: Transaction): Promise<boolean> {
    if (transaction.isCoinbase) return false
    const parents = await this.getMany(transaction.inputs.map(({ txid }) => txid))
    return parents.every(parent => parent !== undefined)
  }
}

const byName = (txids: readonly Txid[]): Map<string, Txid> => {
  const named = new Map<string, Txid>()
  for (const txid of txids) named.set(bytesKey(txid), txid)
  return named
}
