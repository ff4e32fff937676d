/**
 * The dispatch stage (seed 003): finds the token outputs of each transaction in `q:bsv21`. It submits deployments to
 * `tm_bsv21` and enqueues every token output in the queue of its token, `q:tok:{tokenId}`. The commit that enqueues the
 * outputs also acknowledges the transaction, so a crash loses nothing.
 *
 * A transaction that no active token evaluates is submitted to `tm_bsv21` too, which admits none of its outputs: it may
 * spend outputs of an active token.
 *
 * A transaction is dispatched once its ancestry is complete. Missing ancestors are fetched if a source is configured;
 * otherwise the item waits in the queue until they are ingested.
 */
import type { BeefTransaction } from '@quoin/chain'
import type { Engine } from '@quoin/overlay'
import {
  bytesKey,
  formatTxid,
  makeOutpoint,
  memoize,
  QuoinError,
  TickThrottle,
  type TokenId,
  type Txid,
  txidOf
} from '@quoin/primitives'
import { type Batch, type Lease, pollQueue, type Queue, WORK_LEASE_SECONDS, whileLeased } from '@quoin/store'
import { heightScore, type OutputStore } from '@quoin/txo'
import type { Activation } from '../activation.ts'
import { isForDiscovery, type TokenOutputs, tokenOutputs } from '../rules.ts'
import type { TransactionSource } from '../source/source.ts'
import { DISCOVERY } from '../topic-names.ts'
import { acknowledgeAll, ignoreLostLease, isLeaseLost } from './acknowledge.ts'
import { failureOf } from './failure.ts'
import { saveFeeAddressesIn } from './fee-address-index.ts'
import { type Clock, discoveryQueue, enqueueTokenIn, queueOfToken } from './queues.ts'
import {
  type AncestryCheck,
  type AncestryResult,
  beefOf,
  type StagedTransactions
} from './staged-transactions.ts'
import { updateProof } from './update-proof.ts'

/** Ancestors fetched for one transaction. */
const MAX_FETCHES = 100
/** Queue items of one read. */
const PAGE = 1000

export interface DispatchOptions {
  readonly engine: Engine
  readonly activation: Activation
  readonly staged: StagedTransactions
  readonly now: Clock
  /** Source of missing ancestors. */
  readonly fetch?: TransactionSource | undefined
}

interface DispatchResult {
  readonly lease: Lease<Txid>
  readonly subject: BeefTransaction
  readonly outputs: TokenOutputs
}

export class Dispatcher {
  readonly #engine: Engine
  readonly #outputs: OutputStore
  readonly #staged: StagedTransactions
  readonly #throttle = new TickThrottle()
  readonly #queue: Queue<Txid>
  readonly #now: Clock
  readonly #fetch: TransactionSource | undefined
  readonly #activation: Activation

  constructor({ engine, activation, staged, now, fetch }: DispatchOptions) {
    this.#now = now
    this.#engine = engine
    this.#outputs = engine.outputs
    this.#staged = staged
    this.#queue = discoveryQueue(engine.outputs.store, now)
    this.#fetch = fetch
    this.#activation = activation
  }

  /** Dispatches up to `limit` due transactions. Returns their number and the tokens with new queue items. */
  async dispatch(limit: number): Promise<{ readonly count: number; readonly tokens: ReadonlySet<TokenId> }> {
    const leases = await pollQueue(this.#queue, limit, WORK_LEASE_SECONDS)
    const tokens = await whileLeased(this.#queue, leases, () => this.#dispatchAll(leases))
    return { count: leases.length, tokens }
  }

  /** Returns the tokens with new queue items. */
  async #dispatchAll(leases: readonly Lease<Txid>[]): Promise<Set<TokenId>> {
    const active = new ActiveTokens(leases.length + 1, this.#activation)
    const all = await this.#throttle.map(leases, lease => this.#dispatchOne(lease, active))
    const dispatched = all.filter(each => each !== undefined)
    await acknowledgeAll(
      this.#outputs.store,
      this.#queue,
      dispatched.map(each => ({ leases: [each.lease], write: batch => this.#enqueueOutputsIn(batch, each) }))
    )
    await this.#requeueProved(
      dispatched.filter(({ subject }) => !subject.bump).map(({ lease }) => lease.item)
    )
    for (const token of await active.deactivated()) await this.redispatch(token)
    return new Set(dispatched.flatMap(({ outputs }) => [...outputs.values()].map(({ id }) => id)))
  }

  /** Dispatches queued transactions of a token that is no longer active again, unless they are in the index. */
  async redispatch(token: TokenId): Promise<void> {
    const queue = queueOfToken(this.#outputs.store, token, this.#now)
    for (const state of ['due', 'leased', 'waiting', 'dead'] as const) {
      let cursor: string | undefined
      do {
        const page = await queue.list(state, { limit: PAGE, ...(cursor !== undefined && { cursor }) })
        const txids = new Map(page.items.map(({ item }) => [bytesKey(txidOf(item)), txidOf(item)]))
        for (const txid of txids.values()) {
          if (!(await this.#outputs.record(txid))) await this.#queue.enqueue(txid, this.#now())
        }
        cursor = page.cursor
      } while (cursor !== undefined)
    }
  }

  /** Undefined when the item waits or failed. */
  async #dispatchOne(lease: Lease<Txid>, active: ActiveTokens): Promise<DispatchResult | undefined> {
    let ancestry: AncestryResult | undefined
    try {
      const check = await this.#completeAncestry(lease.item)
      if (check.missing) return await this.#waitFor(lease, check.missing)
      const { subject } = check
      const outputs = tokenOutputs(subject.transaction!)
      await updateProof(this.#engine, subject)
      const claims = [...outputs.values()]
      if (isForDiscovery(claims) || !(await active.areSome(claims.map(({ id }) => id)))) {
        ancestry = await this.#staged.assemble(lease.item)
        if (ancestry.missing) return await this.#waitFor(lease, ancestry.missing)
        await this.#engine.admit({ beef: beefOf(ancestry), topics: [DISCOVERY] })
      }
      return { lease, subject, outputs }
    } catch (error) {
      if (isLeaseLost(error)) return undefined
      await this.#queue.fail(lease, await failureOf(error, ancestry, this.#engine)).catch(ignoreLostLease)
      return undefined
    }
  }

  /** Fetches missing ancestors until the ancestry is complete or no more can be fetched. */
  async #completeAncestry(txid: Txid): Promise<AncestryCheck> {
    for (let fetched = 0; ; ) {
      const check = await this.#staged.checkAncestry(txid)
      if (!check.missing || !this.#fetch || fetched >= MAX_FETCHES) return check
      const before = fetched
      for (const missing of check.missing) {
        if (fetched < MAX_FETCHES && (await this.#fetchInto(this.#fetch, missing))) fetched++
      }
      if (fetched === before) return check
    }
  }

  #fetchInto(source: TransactionSource, txid: Txid): Promise<boolean> {
    return fetchInto(this.#outputs, this.#staged, this.#queue, source, txid, this.#now())
  }

  async #waitFor(lease: Lease<Txid>, [missing]: readonly Txid[]): Promise<undefined> {
    await this.#queue.fail(lease, {
      outcome: 'wait',
      errorClass: 'ERR_TX_UNKNOWN',
      reason: `waits for transaction ${formatTxid(missing!)}`,
      dependency: missing!
    })
    // Ingested between the check and the wait, the dependency woke no item.
    if (await this.#staged.has(missing!)) await this.#queue.wake(missing!)
    return undefined
  }

  #enqueueOutputsIn(batch: Batch, { lease, subject, outputs }: DispatchResult): void {
    const { store } = this.#outputs
    const now = this.#now()
    const score = Math.min(chainScore(subject) ?? lease.score, now)
    for (const [vout, { id: token }] of outputs) {
      const outpoint = makeOutpoint(subject.txid, vout)
      enqueueTokenIn(batch, queueOfToken(store, token, this.#now), { token, outpoint, score, now })
    }
    saveFeeAddressesIn(batch, outputs, this.#activation.feeAddresses)
    if (outputs.size === 0) this.#staged.removeIn(batch, subject.txid)
  }

  /** Re-enqueues transactions that were staged with a proof during their lease, when `enqueue` had no effect. */
  async #requeueProved(txids: readonly Txid[]): Promise<void> {
    for (const txid of await this.#staged.withProofs(txids)) await this.#queue.enqueue(txid, this.#now())
  }
}

/** Activation of tokens during one dispatch. */
class ActiveTokens {
  readonly #activation: Activation
  readonly #isActive: (token: TokenId) => Promise<boolean>
  readonly #relied = new Set<TokenId>()

  constructor(size: number, activation: Activation) {
    this.#activation = activation
    this.#isActive = memoize(size, (token: TokenId) => activation.isActive(token))
  }

  /** Whether an active token is among them, whose worker will submit the transaction. */
  async areSome(tokens: readonly TokenId[]): Promise<boolean> {
    for (const token of tokens) {
      if (!(await this.#isActive(token))) continue
      this.#relied.add(token)
      return true
    }
    return false
  }

  /** Tokens that were active and ceased to be meanwhile. */
  async deactivated(): Promise<TokenId[]> {
    const still = await Promise.all([...this.#relied].map(token => this.#activation.isActive(token)))
    return [...this.#relied].filter((_, i) => !still[i])
  }
}

/** The score of the position in the chain; undefined without a proof. */
const chainScore = ({ txid, bump }: BeefTransaction): number | undefined => {
  const index = bump?.offsetOf(txid)
  return bump && index !== undefined ? heightScore({ height: bump.height, index: BigInt(index) }) : undefined
}

/** Stages a transaction from a source and enqueues its token transactions. Returns whether the source had it. */
export const fetchInto = async (
  { store }: OutputStore,
  staged: StagedTransactions,
  queue: Queue<Txid>,
  source: TransactionSource,
  txid: Txid,
  now: number
): Promise<boolean> => {
  const beef = await source.transaction(txid)
  if (!beef) return false
  if (!beef.find(txid)?.transaction) {
    throw new QuoinError(
      'ERR_CHAIN_SOURCE',
      `${source.name} returned a BEEF without the requested transaction`,
      {
        txid: formatTxid(txid)
      }
    )
  }
  const batch = store.batch()
  staged.saveIn(batch, beef)
  for (const each of beef.transactions) {
    if (each.transaction && tokenOutputs(each.transaction).size > 0) {
      queue.enqueueIn(batch, each.txid, chainScore(each) ?? now, now)
    }
  }
  await batch.commit()
  return true
}
