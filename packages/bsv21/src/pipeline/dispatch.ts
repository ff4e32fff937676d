/**
 * The second stage (seed 003, dispatch): each transaction of `q:bsv21` is looked through for tokens. Deployments go to
 * `tm_bsv21`, and every output of a token into the queue of that token, `q:tok:{tokenId}`, in one commit with the end of
 * the item here: nothing is lost when something fails on the way.
 *
 * What a transaction rests on has to be there before it is passed on: it is fetched, if there is a place to fetch it
 * from, or the transaction waits until somebody brings it.
 */
import { Beef, type BeefTransaction } from '@quoin/chain'
import { formatTxid, makeOutpoint, type TokenId, type Txid } from '@quoin/keyspace'
import type { Engine } from '@quoin/overlay'
import { QuoinError, TickThrottle } from '@quoin/primitives'
import { type Batch, type Lease, pollQueue, type Queue } from '@quoin/store'
import { heightScore, type OutputStore } from '@quoin/txo'
import type { FeeAddresses } from '../fee-address.ts'
import { type Claims, claimsOf, isForDiscovery } from '../rules.ts'
import type { TransactionSource } from '../source/source.ts'
import { DISCOVERY } from '../topic-names.ts'
import { acknowledgeAll, ifLost, isLost } from './acknowledge.ts'
import { type Arrivals, type Assembled, beefOf, type Whole } from './arrivals.ts'
import { failureOf } from './failure.ts'
import { noteFeeAddressesIn } from './fees.ts'
import { proveIfKnown } from './prove.ts'
import { type Clock, discoveryQueue, enqueueTokenIn, queueOfToken } from './queues.ts'

/** Fetches in a row for what one transaction rests on. */
const MAX_FETCHES = 100
const LEASE_SECONDS = 120

export interface DispatchOptions {
  readonly engine: Engine
  readonly arrivals: Arrivals
  readonly now: Clock
  /** For what did not come along. */
  readonly fetch?: TransactionSource | undefined
  readonly feeAddresses?: FeeAddresses | undefined
}

interface Dispatched {
  readonly lease: Lease<Txid>
  readonly subject: BeefTransaction
  readonly claims: Claims
}

export class Dispatcher {
  readonly #engine: Engine
  readonly #outputs: OutputStore
  readonly #arrivals: Arrivals
  readonly #throttle = new TickThrottle()
  readonly #queue: Queue<Txid>
  readonly #now: Clock
  readonly #fetch: TransactionSource | undefined
  readonly #feeAddresses: FeeAddresses | undefined

  constructor({ engine, arrivals, now, fetch, feeAddresses }: DispatchOptions) {
    this.#now = now
    this.#engine = engine
    this.#outputs = engine.outputs
    this.#arrivals = arrivals
    this.#queue = discoveryQueue(engine.outputs.store, now)
    this.#fetch = fetch
    this.#feeAddresses = feeAddresses
  }

  /** Works on up to so many that are due; answers how many that were, and the tokens that have something to do. */
  async dispatch(limit: number): Promise<{ readonly count: number; readonly tokens: ReadonlySet<TokenId> }> {
    const leases = await pollQueue(this.#queue, limit, LEASE_SECONDS)
    const all = await this.#throttle.map(leases, lease => this.#dispatchOne(lease))
    const dispatched = all.filter(each => each !== undefined)
    await acknowledgeAll(
      this.#outputs.store,
      this.#queue,
      dispatched.map(each => ({ leases: [each.lease], write: batch => this.#passOnIn(batch, each) }))
    )
    await this.#lookAgain(dispatched.filter(({ subject }) => !subject.bump).map(({ lease }) => lease.item))
    const tokens = dispatched.flatMap(({ claims }) => [...claims.values()].map(({ id }) => id))
    return { count: leases.length, tokens: new Set(tokens) }
  }

  /** What is to be passed on; undefined when that has to wait, or failed. */
  async #dispatchOne(lease: Lease<Txid>): Promise<Dispatched | undefined> {
    let assembled: Assembled | undefined
    try {
      const whole = await this.#whole(lease.item)
      if (whole.missing) return await this.#waitFor(lease, whole.missing)
      const { subject } = whole
      const claims = claimsOf(subject.transaction!)
      await proveIfKnown(this.#engine, subject)
      if (isForDiscovery([...claims.values()])) {
        assembled = await this.#arrivals.assemble(lease.item)
        if (assembled.missing) return await this.#waitFor(lease, assembled.missing)
        await this.#discover(beefOf(assembled))
      }
      return { lease, subject, claims }
    } catch (error) {
      if (isLost(error)) return undefined
      await this.#queue.fail(lease, await failureOf(error, assembled, this.#engine)).catch(ifLost)
      return undefined
    }
  }

  /** With what can be fetched. */
  async #whole(txid: Txid): Promise<Whole> {
    for (let fetched = 0; ; ) {
      const whole = await this.#arrivals.whole(txid)
      if (!whole.missing || !this.#fetch || fetched >= MAX_FETCHES) return whole
      const before = fetched
      for (const missing of whole.missing) {
        if (fetched < MAX_FETCHES && (await this.#fetchInto(this.#fetch, missing))) fetched++
      }
      if (fetched === before) return whole
    }
  }

  #fetchInto(source: TransactionSource, txid: Txid): Promise<boolean> {
    return fetchInto(this.#outputs, this.#arrivals, this.#queue, source, txid, this.#now())
  }

  async #waitFor(lease: Lease<Txid>, [missing]: readonly Txid[]): Promise<undefined> {
    await this.#queue.fail(lease, {
      outcome: 'wait',
      errorClass: 'ERR_TX_UNKNOWN',
      reason: `waits for transaction ${formatTxid(missing!)}`,
      dependency: missing!
    })
    // It may have come between the look and the wait, and woken nobody.
    if (await this.#arrivals.has(missing!)) await this.#queue.wake(missing!)
    return undefined
  }

  async #discover(beef: Beef): Promise<void> {
    const steak = await this.#engine.submit({ beef, topics: [DISCOVERY] }, 'historical-tx')
    const failed = steak[DISCOVERY]?.error
    if (failed) throw new QuoinError('ERR_TOPIC_FAILED', failed.message, { topic: DISCOVERY })
  }

  #passOnIn(batch: Batch, { lease, subject, claims }: Dispatched): void {
    const { store } = this.#outputs
    const now = this.#now()
    const score = Math.min(chainScore(subject) ?? lease.score, now)
    for (const [vout, claim] of claims) {
      const token = claim.id
      const outpoint = makeOutpoint(subject.txid, vout)
      enqueueTokenIn(batch, queueOfToken(store, token, this.#now), { token, outpoint, score, now })
    }
    noteFeeAddressesIn(batch, claims, this.#feeAddresses)
    if (claims.size === 0) this.#arrivals.removeIn(batch, subject.txid)
  }

  /** They may have come again meanwhile, with proofs; an item that is worked on is not queued again. */
  async #lookAgain(txids: readonly Txid[]): Promise<void> {
    for (const txid of await this.#arrivals.proved(txids)) await this.#queue.enqueue(txid, this.#now())
  }
}

/** By its place in the chain, if it has one. */
const chainScore = ({ txid, bump }: BeefTransaction): number | undefined => {
  const index = bump?.offsetOf(txid)
  return bump && index !== undefined ? heightScore({ height: bump.height, index: BigInt(index) }) : undefined
}

/** Keeps a transaction that another place has, and queues what tokens there are; answers whether it had it. */
export const fetchInto = async (
  { store }: OutputStore,
  arrivals: Arrivals,
  queue: Queue<Txid>,
  source: TransactionSource,
  txid: Txid,
  now: number
): Promise<boolean> => {
  const bytes = await source.transaction(txid)
  if (!bytes) return false
  const beef = readFetched(bytes, source, txid)
  const batch = store.batch()
  arrivals.saveIn(batch, beef)
  for (const each of beef.transactions) {
    if (each.transaction && claimsOf(each.transaction).size > 0) {
      queue.enqueueIn(batch, each.txid, chainScore(each) ?? now, now)
    }
  }
  await batch.commit()
  return true
}

/** Nonsense is the fault of the place, not of what asked for it. */
const readFetched = (bytes: Uint8Array, { name }: TransactionSource, txid: Txid): Beef => {
  try {
    const beef = Beef.parse(bytes)
    if (beef.find(txid)?.transaction) return beef
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
  }
  throw new QuoinError('ERR_CHAIN_SOURCE', `${name} answers with something else than the transaction`, {
    txid: formatTxid(txid)
  })
}
