/**
 * The first stage (seed 003, discovery): what a source delivers is kept and queued in `q:bsv21`, unless it could be judged
 * at once, in one commit with how far the source is. Whatever waited for a transaction that has come is woken in the
 * same commit.
 */
import { Beef, bytesKey } from '@quoin/chain'
import { makeOutpoint, type Outpoint, type TokenId, type Txid } from '@quoin/keyspace'
import { QuoinError } from '@quoin/primitives'
import type { Batch, Queue, Store } from '@quoin/store'
import { type BlockPosition, heightScore, type OutputStore } from '@quoin/txo'
import type { FeeAddresses } from '../fee-address.ts'
import { claimsOf } from '../rules.ts'
import type { Arrival, Delivery } from '../source/source.ts'
import type { Arrivals } from './arrivals.ts'
import { noteFeeAddressesIn } from './fees.ts'
import { type Clock, discoveryQueue, queueOfToken, reviveTokenIn } from './queues.ts'
import type { Straight } from './straight.ts'

/** Seconds between transactions of one delivery. */
const MOMENT = 1e-6

export interface FeedOptions {
  readonly outputs: OutputStore
  readonly arrivals: Arrivals
  /** Undefined where all goes through the queues. */
  readonly straight: Straight | undefined
  readonly feeAddresses: FeeAddresses | undefined
  readonly now: Clock
}

export class Feed {
  readonly #store: Store
  readonly #arrivals: Arrivals
  readonly #queue: Queue<Txid>
  readonly #straight: Straight | undefined
  readonly #feeAddresses: FeeAddresses | undefined
  readonly #now: Clock
  readonly #queued: () => void

  /** Calls back when something was queued. */
  constructor({ outputs, arrivals, straight, feeAddresses, now }: FeedOptions, queued: () => void) {
    const { store } = outputs
    this.#store = store
    this.#arrivals = arrivals
    this.#straight = straight
    this.#feeAddresses = feeAddresses
    this.#queue = discoveryQueue(store, now)
    this.#now = now
    this.#queued = queued
  }

  /** Commits a delivery of a source, after the one before; answers how many transactions were queued. */
  async take(
    { transactions, mark }: Delivery,
    { before, source }: { readonly before?: Promise<unknown> | undefined; readonly source?: string } = {}
  ): Promise<number> {
    const beefs = transactions.map(({ beef }) => beef && readable(beef))
    // What a source says it brings may be among other things, or not there at all.
    const areDone = await this.#straight?.take(
      beefs.map((beef, i) => (beef && isAbout(beef, transactions[i]!.txid) ? beef : undefined)),
      source
    )
    const givenUp = await this.#givenUp(beefs.filter((_, i): _ is Beef => areDone?.[i] === true))
    await before
    const batch = this.#store.batch()
    const now = this.#now()
    let queued = 0
    for (const [i, arrival] of transactions.entries()) {
      if (areDone?.[i]) this.#tellIn(batch, beefs[i]!, givenUp)
      // Those that are not mined stay in the order in which they came.
      else queued += this.#queueIn(batch, arrival, beefs[i], now - (transactions.length - i) * MOMENT)
    }
    mark(batch)
    await batch.commit()
    if (queued > 0) this.#queued()
    return queued
  }

  /** Commits single transactions, for those who have them. */
  async takeBeef(bytes: Uint8Array): Promise<number> {
    const { subject } = Beef.parse(bytes)
    return this.take({
      transactions: [{ txid: subject, beef: bytes, mined: undefined }],
      reorgFrom: undefined,
      mark: () => undefined
    })
  }

  /** What waits for it need not any longer; where it was given up, the queues find that it is done. */
  #tellIn(batch: Batch, beef: Beef, givenUp: ReadonlyMap<TokenId, Queue<Outpoint>>): void {
    const { subject, transactions } = beef
    for (const { txid, transaction } of transactions) if (transaction) this.#queue.wakeIn(batch, txid)
    this.#queue.reviveIn(batch, subject)
    const claims = claimsOf(beef.find(subject)!.transaction!)
    for (const [vout, { id }] of claims) {
      const queue = givenUp.get(id)
      if (queue) reviveTokenIn(batch, queue, id, makeOutpoint(subject, vout))
    }
    noteFeeAddressesIn(batch, claims, this.#feeAddresses)
  }

  /** Queues of their tokens that have something that was given up. */
  async #givenUp(beefs: readonly Beef[]): Promise<ReadonlyMap<TokenId, Queue<Outpoint>>> {
    const found = new Map<TokenId, Queue<Outpoint>>()
    for (const token of new Set(beefs.flatMap(tokensOf))) {
      const queue = queueOfToken(this.#store, token, this.#now)
      if ((await queue.stats()).dead > 0) found.set(token, queue)
    }
    return found
  }

  #queueIn(batch: Batch, { txid, mined }: Arrival, beef: Beef | undefined, now: number): number {
    const queued = new Map([[bytesKey(txid), txid]])
    if (beef?.find(txid)?.transaction) {
      this.#arrivals.saveIn(batch, beef)
      // What it rests on may have tokens that nobody brought by themselves.
      for (const each of beef.transactions) {
        if (each.transaction && claimsOf(each.transaction).size > 0)
          queued.set(bytesKey(each.txid), each.txid)
        this.#queue.wakeIn(batch, each.txid)
      }
    }
    for (const each of queued.values()) {
      this.#queue.enqueueIn(batch, each, scoreOf(beef, each) ?? (mined && heightScore(mined)) ?? now)
      // What was given up is worth another look when it comes again.
      this.#queue.reviveIn(batch, each)
    }
    return queued.size
  }
}

const isAbout = ({ subject }: Beef, txid: Txid): boolean => bytesKey(subject) === bytesKey(txid)

const tokensOf = (beef: Beef): TokenId[] =>
  [...claimsOf(beef.find(beef.subject)!.transaction!).values()].map(({ id }) => id)

/** In the order of the chain, where that is known. */
const scoreOf = (beef: Beef | undefined, txid: Txid): number | undefined => {
  const bump = beef?.find(txid)?.bump
  const index = bump?.offsetOf(txid)
  if (!bump || index === undefined) return undefined
  const position: BlockPosition = { height: bump.height, index: BigInt(index) }
  return heightScore(position)
}

/** What cannot be read is fetched by its id, like what did not come along. */
const readable = (bytes: Uint8Array): Beef | undefined => {
  try {
    return Beef.parse(bytes)
  } catch (error) {
    if (error instanceof QuoinError) return undefined
    throw error
  }
}
