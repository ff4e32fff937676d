/**
 * The indexer: takes transactions as BEEF, verifies them, and commits each with everything that comes with it at once:
 * the transaction and its ancestors, their proofs, what they spend, and what its outputs mean (D4).
 */
import { Beef, type RootTracker, type Transaction, type Verified, verifyBeef } from '../chain/index.ts'
import { formatTxid, makeOutpoint, QuoinError, type Txid } from '../keyspace/index.ts'
import { Change } from './change.ts'
import { indexTransaction } from './index-transaction.ts'
import type { OutputStore } from './output-store.ts'
import type { BlockPosition } from './position.ts'

export interface IndexerOptions {
  /** Parsers to use, by tag; all unless given. */
  readonly tags?: readonly string[]
}

/** So often what was known may be taken back while the rest is verified. */
const ATTEMPTS = 10

export class Indexer {
  readonly #outputs: OutputStore
  readonly #tracker: RootTracker
  readonly #tags: readonly string[] | undefined

  constructor(outputs: OutputStore, tracker: RootTracker, { tags }: IndexerOptions = {}) {
    this.#outputs = outputs
    this.#tracker = tracker
    this.#tags = tags
  }

  /**
   * Verifies the subject of a BEEF and indexes it; `seen` is when it was first seen, in unix seconds. Answers its txid.
   * Nothing is written when it does not hold, or spends what another transaction spends.
   */
  async index(bytes: Uint8Array, seen?: number): Promise<Txid> {
    const beef = Beef.parse(bytes)
    for (let attempt = 1; ; attempt++) {
      const { known } = this.#outputs.transactions
      const verified = await verifyBeef(beef, { tracker: this.#tracker, known })
      try {
        await this.#outputs.commit(...(await this.#changes(beef, verified, seen)))
        return beef.subject
      } catch (error) {
        // Something that was known has been taken back meanwhile: it has to be verified like anything else.
        const isLate = error instanceof QuoinError && error.code === 'ERR_TX_UNKNOWN'
        if (!isLate || attempt === ATTEMPTS) throw error
      }
    }
  }

  async #changes(beef: Beef, verified: Verified, seen: number | undefined): Promise<Change[]> {
    const { transactions } = this.#outputs
    const name = formatTxid(beef.subject)
    const fresh = new Map(verified.transactions.map(each => [formatTxid(each.txid), each]))
    const subject = beef.find(beef.subject)?.transaction ?? (await transactions.get(beef.subject))
    if (!subject) throw notStored(beef.subject)
    const sources = new Map(fresh)
    for (const parent of await this.#stored(subject, sources)) sources.set(formatTxid(parent.txid), parent)
    const proofs = new Map(verified.proofs.map(proof => [formatTxid(proof.txid), proof]))
    const positionOf = (txid: Txid): BlockPosition | undefined => {
      const bump = proofs.get(formatTxid(txid))?.bump
      return bump && { height: bump.height, index: BigInt(bump.offsetOf(txid)!) }
    }
    const change = indexTransaction(subject, {
      seen,
      position: positionOf(subject.txid),
      tags: this.#tags,
      sources: txid => sources.get(formatTxid(txid))
    })
    change.also(batch => {
      for (const each of verified.transactions) transactions.saveIn(batch, each, { verified: true })
      for (const { txid, bump } of verified.proofs) transactions.saveProofIn(batch, txid, bump)
    })
    // What was known when it was looked at has to be so still when the subject is committed.
    if (!fresh.has(name)) change.needs(subject.txid)
    for (const { txid, inputs } of fresh.values()) {
      if (proofs.has(formatTxid(txid))) continue
      for (const input of inputs) if (!fresh.has(formatTxid(input.txid))) change.needs(input.txid)
    }
    const moved = verified.proofs
      .filter(({ txid }) => formatTxid(txid) !== name && !fresh.has(formatTxid(txid)))
      .map(({ txid }) => new Change(txid, { position: positionOf(txid) }).needs(txid))
    const ancestors = verified.transactions.filter(({ txid }) => formatTxid(txid) !== name)
    return [...moved, ...ancestors.map(each => spendsOf(each, positionOf(each.txid), seen)), change]
  }

  /** What the subject spends of transactions that are stored. */
  async #stored(subject: Transaction, given: ReadonlyMap<string, unknown>): Promise<Transaction[]> {
    const missing = new Map(subject.inputs.map(({ txid }) => [formatTxid(txid), txid]))
    for (const txid of given.keys()) missing.delete(txid)
    return (await this.#outputs.transactions.getMany([...missing.values()])).filter(
      each => each !== undefined
    )
  }
}

/**
 * Of an ancestor only what it spends: what conflicts with it conflicts with all that rest on it, and taking it back
 * takes them too.
 */
const spendsOf = (
  { txid, inputs, outputCount, isCoinbase }: Transaction,
  position: BlockPosition | undefined,
  seen: number | undefined
): Change => {
  const change = new Change(txid, { seen, position, vouts: outputCount }).exists()
  if (!isCoinbase) for (const input of inputs) change.spend(makeOutpoint(input.txid, input.vout))
  return change
}

const notStored = (txid: Txid): QuoinError =>
  new QuoinError('ERR_TX_UNKNOWN', `transaction ${formatTxid(txid)} is not stored`, {
    txid: formatTxid(txid)
  })
