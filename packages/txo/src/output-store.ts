/**
 * The output store (seed 001): outputs with their events, what spends them, what they come to, and the topics they are
 * in. One store for all topics and all indexers; each writer says what holds, and what several of them say is kept
 * together.
 *
 * @example
 * import { DevChain } from '@quoin/dev-chain'
 * import { openStore } from '@quoin/store'
 * const chain = new DevChain()
 * const outputs = new OutputStore(await openStore('memory:'))
 * const address = '1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc'
 * await new Indexer(outputs, chain).index(chain.beef(chain.fund(address, 1000).txid))
 * await outputs.searchBalance({ keys: [`own:${address}`] }) // { satoshis: 1000n, outputs: 1 }
 */

import { chain, type Known, TransactionStore } from '@quoin/chain'
import { makeOutpoint, type Outpoint, type Topic, type Txid, txidOf, voutOf } from '@quoin/primitives'
import { ask, type Batch, type ReadPlan, type Store } from '@quoin/store'
import { type AmountLedger, LedgerWriter } from './amount-ledger.ts'
import { applyChanges, rollback } from './apply.ts'
import { type CommitContext, commitMutation } from './commit.ts'
import { EventRegistry, type EventTypes, outputEvents } from './events.ts'
import { Journal } from './journal.ts'
import type { FollowOptions, JournalSubscription } from './journal-reader.ts'
import { outputs, satoshisFields } from './keys.ts'
import { type LoadedOutput, type LoadOptions, loadOutputs } from './load.ts'
import { MembershipLog } from './membership.ts'
import { outputState } from './output-state.ts'
import type { BlockPosition } from './position.ts'
import { type TransactionRecord, transactionRecord } from './record.ts'
import { scriptEvents } from './scripts/events.ts'
import { type FoundOutput, type OutputSearch, type Page, searchOutpoints } from './search.ts'
import { type Admission, type OutputUpdate, type SpentEvents, TxUpdate } from './tx-update.ts'
import { mapKey, txidFromMapKey } from './working-set.ts'

export interface OutputStoreOptions {
  /** The types of events; those of outputs and of scripts unless given. */
  readonly events?: EventTypes
  /** Unix seconds. */
  readonly now?: () => number
  /** What outputs carry beside satoshis; the sums are kept, and `Book` reads them. */
  readonly ledger?: AmountLedger
  /** Changes that the journal keeps for those who follow it, 100,000 unless given. */
  readonly journal?: number
}

/** An output to save, as an indexer found it. */
export interface SavedOutput {
  readonly vout: number
  readonly satoshis: number
  readonly events?: Iterable<string>
  /** Addresses; each becomes the event `own:{address}`. */
  readonly owners?: Iterable<string>
  readonly data?: Readonly<Record<string, unknown>>
}

/** When and where a transaction is. */
export interface At {
  readonly seen?: number
  readonly position?: BlockPosition | null
}

export interface Balance {
  readonly satoshis: bigint
  readonly outputs: number
}

const {
  output: outputHashes,
  satoshis,
  spends,
  topicOutputs,
  topicTransactions,
  balances,
  conflicts
} = outputs.collections
const { log } = chain.collections
const SATOSHIS = satoshis.encode()
const SPENDS = spends.encode()
/** Outputs whose satoshis are added up at once. */
const SUM_PAGE = 10_000

export class OutputStore {
  readonly store: Store
  readonly events: EventTypes
  readonly transactions: TransactionStore
  readonly journal: Journal
  readonly #committing: CommitContext
  readonly #committed: ((seconds: number) => void)[] = []
  readonly #membershipChanged: ((topics: readonly Topic[]) => void)[] = []
  readonly #forgetting: ((batch: Batch, txid: Txid) => void | Promise<void>)[] = []

  constructor(store: Store, options: OutputStoreOptions = {}) {
    this.store = store
    this.events = options.events ?? new EventRegistry(outputEvents, scriptEvents)
    this.transactions = new TransactionStore(store)
    this.journal = new Journal(store, options.journal ?? 100_000)
    const now = options.now ?? (() => Date.now() / 1000)
    const ledgers = options.ledger && new LedgerWriter(store, options.ledger)
    this.#committing = {
      store,
      events: this.events,
      journal: this.journal,
      ledgers,
      now,
      onMembership: topics => {
        for (const changed of this.#membershipChanged) changed(topics)
      }
    }
  }

  /**
   * Commits changes as one batch, and answers whether the index is another than before. Refused with
   * `ERR_TXO_CONFLICT` when an output is spent by another transaction already; only one that is not mined gives way
   * to one that is, with everything downstream.
   */
  async commit(...changes: readonly TxUpdate[]): Promise<boolean> {
    const since = performance.now()
    const changed = await this.#commit(changes)
    for (const committed of this.#committed) committed((performance.now() - since) / 1000)
    return changed
  }

  #commit(changes: readonly TxUpdate[]): Promise<boolean> {
    return commitMutation(this.#committing, async work => {
      const txids = new Set(changes.map(({ txid }) => mapKey(txid)))
      await this.store.run(
        applyChanges(work, changes, { events: this.events, now: this.#committing.now(), txids })
      )
      const gone = [...work.records()]
        .filter(([, { before, after }]) => before && !after)
        .map(([txid]) => txid)
      const writes = changes.flatMap(change => change.extraWrites)
      const proved = changes.flatMap(({ txid, isProved }) => (isProved ? [mapKey(txid)] : []))
      return {
        ...(gone.length + writes.length > 0 && {
          extraWrites: (batch: Batch) => {
            if (gone.length > 0) return this.#forget(batch, gone).then(() => writeAll(batch, writes))
            return writeAll(batch, writes)
          }
        }),
        ...(proved.length > 0 && { proved: new Set(proved) })
      }
    })
  }

  /** Saves outputs of a transaction: satoshis, events, data, and where it is in the chain. */
  saveOutputs(txid: Txid, saved: readonly SavedOutput[], at: At = {}): Promise<boolean> {
    const change = new TxUpdate(txid, at)
    for (const { vout, ...output } of saved) change.output(vout, this.indexed(txid, output))
    return this.commit(change)
  }

  /** What an indexer saves of an output: with the events that every output has. */
  indexed(
    txid: Txid,
    { satoshis: amount, events = [], owners = [], data }: Omit<SavedOutput, 'vout'>
  ): OutputUpdate {
    const { own, txid: ofTransaction } = outputEvents.types
    return {
      satoshis: amount,
      events: [ofTransaction.text(txid), ...events, ...[...owners].map(owner => own.text(owner))],
      ...(data && { data })
    }
  }

  /** Adds events and data to an output; what others said of it stays. */
  saveEvents(outpoint: Outpoint, change: OutputUpdate, at: At = {}): Promise<boolean> {
    return this.commit(new TxUpdate(txidOf(outpoint), at).output(voutOf(outpoint), change))
  }

  /** Says that a transaction spends an output, which had these events. */
  saveSpend(outpoint: Outpoint, spender: Txid, events: SpentEvents = [], at: At = {}): Promise<boolean> {
    return this.commit(new TxUpdate(spender, at).spend(outpoint, events))
  }

  /** Says that a topic admitted an output. */
  admit(topic: Topic, outpoint: Outpoint, admission: Admission = {}, at: At = {}): Promise<boolean> {
    return this.commit(new TxUpdate(txidOf(outpoint), at).admit(topic, voutOf(outpoint), admission))
  }

  /** Moves a transaction to a place in the chain, or with `null` out of it, and all its scores with it. */
  move(
    txid: Txid,
    position: BlockPosition | null,
    also: (batch: Batch) => void = () => undefined
  ): Promise<boolean> {
    return this.commit(new TxUpdate(txid, { position }).addWrites(also))
  }

  /**
   * Takes back everything that was written for a transaction and for everything downstream, and gives back what they
   * spent, in one batch. Answers which transactions that were.
   */
  async rollback(txid: Txid): Promise<Txid[]> {
    let gone: string[] = []
    const known = await this.transactions.get(txid)
    await commitMutation(this.#committing, async work => {
      const visited = await this.store.run(rollback(work, mapKey(txid), known?.outputs.length))
      gone = visited.filter(name => work.record(name).before)
      return { extraWrites: batch => this.#forget(batch, visited) }
    })
    return gone.map(txidFromMapKey)
  }

  /** Takes back every transaction that is mined above a height, the last first. */
  async rollbackTo(
    height: number,
    onRollback: (txids: readonly Txid[]) => void = () => undefined
  ): Promise<number> {
    let count = 0
    for (;;) {
      const [last] = await this.store
        .use(log)
        .at('mined')
        .reverseRange({ min: height + 1, count: 1 })
      if (!last) return count
      const gone = await this.rollback(last.member)
      count += gone.length
      onRollback(gone)
    }
  }

  /** What is stored of transactions that are no more in the index. */
  async #forget(batch: Batch, txids: readonly string[]): Promise<void> {
    for (const name of txids) {
      const txid = txidFromMapKey(name)
      this.transactions.removeIn(batch, txid)
      batch.use(log).at('rollback').add(txid, this.#committing.now())
      for (const forget of this.#forgetting) await forget(batch, txid)
    }
  }

  /** More to write in the commit that takes back a transaction, by those who keep more about it. */
  onForget(forget: (batch: Batch, txid: Txid) => void | Promise<void>): void {
    this.#forgetting.push(forget)
  }

  /** Calls back after each commit, with the seconds that it took until it was durable. */
  onCommit(committed: (seconds: number) => void): void {
    this.#committed.push(committed)
  }

  /** Calls back after each commit of this process with the topics whose membership logs it appended to. */
  onMembership(changed: (topics: readonly Topic[]) => void): void {
    this.#membershipChanged.push(changed)
  }

  /** What happened to the outputs of a topic, in the order of the commits. */
  membership(topic: Topic): MembershipLog {
    return new MembershipLog(this.store, topic)
  }

  /** Outpoints and scores, a page at a time. */
  search(query: OutputSearch): Promise<Page<FoundOutput>> {
    return searchOutpoints(this.store, this.events, query)
  }

  /** The same, with what the options include. */
  async searchOutputs(query: OutputSearch): Promise<Page<LoadedOutput & FoundOutput>> {
    const page = await this.search(query)
    const loaded = await this.loadOutputs(
      page.rows.map(({ outpoint }) => outpoint),
      query
    )
    const rows: (LoadedOutput & FoundOutput)[] = []
    for (const [i, row] of page.rows.entries()) {
      const output = loaded[i]
      if (output) rows.push(Object.assign(output, row))
    }
    return { rows, cursor: page.cursor }
  }

  /**
   * What the unspent outputs that a search finds come to. One event whose balance is kept is one read; otherwise they
   * are added up, all of them, or as many as the limit says.
   */
  async searchBalance(query: OutputSearch): Promise<Balance> {
    const kept = await this.#keptBalance(query)
    if (kept) return kept
    const sum = { satoshis: 0n, outputs: 0 }
    let { cursor } = query
    do {
      const page = await this.search({
        ...query,
        filterSpent: true,
        limit: query.limit ?? SUM_PAGE,
        ...(cursor !== undefined && { cursor })
      })
      const amounts = await this.satoshis(page.rows.map(({ outpoint }) => outpoint))
      for (const amount of amounts) sum.satoshis += amount ?? 0n
      sum.outputs += page.rows.length
      cursor = query.limit === undefined ? page.cursor : undefined
    } while (cursor !== undefined)
    return sum
  }

  async #keptBalance({ keys, from, to, limit, cursor }: OutputSearch): Promise<Balance | undefined> {
    const [key] = keys
    if (keys.length !== 1 || key === undefined) return undefined
    if (from !== undefined || to !== undefined || limit !== undefined || cursor !== undefined)
      return undefined
    if (!this.events.find(key)?.balance) return undefined
    this.events.asked(key)
    const [sum, count] = await Promise.all([
      this.store.use(balances).at('satoshis').score(key),
      this.store.use(balances).at('outputs').score(key)
    ])
    return { satoshis: BigInt(sum ?? 0), outputs: count ?? 0 }
  }

  /** One answer for each outpoint; an unknown one is `null`. */
  loadOutputs(outpoints: readonly Outpoint[], options: LoadOptions = {}): Promise<(LoadedOutput | null)[]> {
    return loadOutputs(this.store, this.transactions, outpoints, options)
  }

  async loadOutput(outpoint: Outpoint, options: LoadOptions = {}): Promise<LoadedOutput | null> {
    return (await this.loadOutputs([outpoint], options))[0]!
  }

  /** Whether anything is known of each output: what `loadOutputs` does not answer `null` for. */
  async areKnown(outpoints: readonly Outpoint[]): Promise<boolean[]> {
    return this.store.mhexists(
      outpoints.map(outpoint => outputHashes.encode(txidOf(outpoint), voutOf(outpoint)))
    )
  }

  /** The outputs of a transaction, in order. */
  async loadOutputsByTxid(txid: Txid, options: LoadOptions = {}): Promise<LoadedOutput[]> {
    const hashes = await this.store.hrange(outputHashes.scan(txid))
    return this.#loadKnown(
      hashes.map(({ key }) => key),
      options
    )
  }

  /** Those of them that a topic admitted. */
  async loadOutputsByTxidForTopic(
    txid: Txid,
    topic: Topic,
    options: LoadOptions = {}
  ): Promise<LoadedOutput[]> {
    const hashes = await this.store.hrange(outputHashes.scan(txid))
    const admitted = hashes.filter(({ fields }) => outputState(fields, undefined).topics.includes(topic))
    return this.#loadKnown(
      admitted.map(({ key }) => key),
      options
    )
  }

  async #loadKnown(keys: readonly Uint8Array[], options: LoadOptions): Promise<LoadedOutput[]> {
    const outpoints = keys.map(key => makeOutpoint(...outputHashes.decode(key)))
    return (await this.loadOutputs(outpoints, options)).filter(each => each !== null)
  }

  /** The outputs of a topic that consume an output: those of the transaction that spends it. */
  async consumedBy(outpoint: Outpoint, topic: Topic): Promise<Outpoint[]> {
    const [spender] = await this.spends([outpoint])
    if (!spender) return []
    return (await this.loadOutputsByTxidForTopic(spender, topic)).map(each => each.outpoint)
  }

  /** The spender of each output, or `null`. */
  spends(outpoints: readonly Outpoint[]): Promise<(Txid | null)[]> {
    return this.store.run(this.spendsPlan(outpoints))
  }

  /** The same as part of a plan. */
  *spendsPlan(outpoints: readonly Outpoint[]): ReadPlan<(Txid | null)[]> {
    const spenders = yield* ask(reads => reads.hmget(SPENDS, outpoints))
    return spenders.map(spender => (spender as Txid | undefined) ?? null)
  }

  /** The satoshis of each output, or `null` where they are not known. */
  async satoshis(outpoints: readonly Outpoint[]): Promise<(bigint | null)[]> {
    const { codec } = satoshisFields.collections.satoshis.value
    return (await this.store.hmget(SATOSHIS, outpoints)).map(value => (value ? codec.decode(value) : null))
  }

  /**
   * Verified transactions with a record in the index, for `verifyBeef`. A stored transaction without a record lost it with
   * the last writes of the database, and is taken in again.
   */
  readonly known: Known = async txids => {
    const [verified, records] = await Promise.all([
      this.transactions.known(txids),
      this.store.hmget(SPENDS, txids)
    ])
    return verified.map((each, i) => (records[i] ? each : undefined))
  }

  /** What is known of a transaction as a whole. */
  record(txid: Txid): Promise<TransactionRecord | undefined> {
    return this.store.run(this.recordPlan(txid))
  }

  /** The same as part of a plan. */
  *recordPlan(txid: Txid): ReadPlan<TransactionRecord | undefined> {
    const record = yield* ask(reads => reads.hget(SPENDS, txid))
    return record && transactionRecord.codec.decode(record)
  }

  async isInTopic(topic: Topic, outpoint: Outpoint): Promise<boolean> {
    return (await this.store.use(topicOutputs).at(topic).score(outpoint)) !== undefined
  }

  async isApplied(topic: Topic, txid: Txid): Promise<boolean> {
    return (await this.store.use(topicTransactions).at(topic).score(txid)) !== undefined
  }

  /** Transactions that wanted an output which another one spends, the first first. */
  async conflicts(outpoint: Outpoint): Promise<Txid[]> {
    const rows = await this.store.use(conflicts).at(txidOf(outpoint), voutOf(outpoint)).range()
    return rows.map(({ member }) => member)
  }

  /** Changes after a position of the journal, then changes as they are committed. */
  follow(options?: FollowOptions): JournalSubscription {
    return this.journal.follow(options)
  }
}

/** One after the other; what is written at once is not waited for. */
const writeAll = (
  batch: Batch,
  writes: readonly ((batch: Batch) => void | Promise<void>)[]
): void | Promise<void> => {
  for (const [i, write] of writes.entries()) {
    const writing = write(batch)
    if (writing) return writing.then(() => writeAll(batch, writes.slice(i + 1)))
  }
}
