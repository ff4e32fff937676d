/**
 * The output store (seed 001): outputs with their events, spenders, balances and topics. One store serves all topics
 * and indexers, and merges the updates of several writers.
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

import {
  chain,
  type KnownLookup,
  type KnownTransaction,
  type Transaction,
  TransactionStore
} from '@quoin/chain'
import {
  bytesKey,
  makeOutpoint,
  type Outpoint,
  type Topic,
  type Txid,
  traced,
  txidOf,
  voutOf
} from '@quoin/primitives'
import { ask, type Batch, type ReadPlan, type Store } from '@quoin/store'
import { type AmountLedger, LedgerWriter } from './amount-ledger.ts'
import { applyUpdates } from './apply-update.ts'
import { type CommitContext, commitMutation } from './commit.ts'
import { EventRegistry, type EventTypes, outputEvents } from './events.ts'
import { Journal } from './journal.ts'
import type { FollowOptions, JournalSubscription } from './journal-reader.ts'
import { outputs } from './keys.ts'
import { type LoadedOutput, type LoadOptions, loadOutputs, outputsPlan } from './load-outputs.ts'
import { MembershipLog } from './membership.ts'
import { outputState, satoshisIn } from './output-state.ts'
import type { BlockPosition } from './position.ts'
import { type TransactionRecord, transactionRecord } from './record.ts'
import { rollback } from './rollback.ts'
import { scriptEvents } from './scripts/events.ts'
import { type FoundOutput, type OutputSearch, type Page, searchOutpoints } from './search.ts'
import {
  type Admission,
  type OutputUpdate,
  type SpentEvents,
  TxUpdate,
  type TxUpdateOptions
} from './tx-update.ts'
import { txidFromMapKey } from './working-set.ts'

export interface OutputStoreOptions {
  /** The types of events; `outputEvents` and `scriptEvents` unless given. */
  readonly events?: EventTypes
  /** Unix seconds. */
  readonly now?: () => number
  /** The amounts of outputs beside their satoshis; `Book` reads their sums. */
  readonly ledger?: AmountLedger
  /** Changes that the journal keeps, 100,000 unless given. */
  readonly journal?: number
}

/** Adds writes to a commit that stores a verified transaction, with the topics that the commit applies it to. */
export type StoredHook = (
  batch: Batch,
  transaction: Transaction,
  topics: ReadonlySet<Topic>
) => void | Promise<void>

/** Adds writes to a commit that changes the transactions of a topic in a block. */
export type BlockHook = (batch: Batch, topic: Topic, height: number) => void

/**
 * Adds writes to the commit that rolls a transaction back. `cause` is the value that was given to `rollback`, and undefined
 * when a mined rival or a reorg is the cause.
 */
export type ForgetHook = (batch: Batch, txid: Txid, cause?: RollbackCause) => void | Promise<void>

/** Adds writes to the commit that gives a transaction a block position, or makes it unmined. */
export type PositionHook = (batch: Batch, txid: Txid, position: BlockPosition | null) => void | Promise<void>

/** Why a transaction is rolled back with its descendants. */
export interface RollbackCause {
  readonly txid: Txid
  /** One sentence. */
  readonly reason: string
}

/** An output to save. */
export interface SavedOutput {
  readonly vout: number
  readonly satoshis: number
  readonly events?: Iterable<string>
  /** Addresses; each becomes the event `own:{address}`. */
  readonly owners?: Iterable<string>
  readonly data?: Readonly<Record<string, unknown>>
}

export interface Balance {
  readonly satoshis: bigint
  readonly outputs: number
}

const {
  output: outputHashes,
  spends,
  topicOutputs,
  topicTransactions,
  balances,
  conflicts
} = outputs.collections
const { log } = chain.collections
const SPENDS = spends.encode()
/** Outputs of one read of a sum. */
const SUM_PAGE = 10_000

export class OutputStore {
  readonly store: Store
  readonly events: EventTypes
  readonly transactions: TransactionStore
  readonly journal: Journal
  readonly #committing: CommitContext
  readonly #committed: ((seconds: number) => void)[] = []
  readonly #membershipChanged: ((topics: readonly Topic[]) => void)[] = []
  readonly #storing: StoredHook[] = []
  readonly #blockHooks: BlockHook[] = []
  readonly #forgetting: ForgetHook[] = []
  readonly #positioning: PositionHook[] = []

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
      },
      blockIn: (batch, topic, height) => {
        for (const hook of this.#blockHooks) hook(batch, topic, height)
      }
    }
  }

  /**
   * Commits updates as one batch; answers whether the index has changed. Refused with `ERR_TXO_CONFLICT` for an output
   * that another transaction spends. A mined transaction replaces an unmined spender, which is rolled back with its
   * descendants.
   */
  async commit(...changes: readonly TxUpdate[]): Promise<boolean> {
    const since = performance.now()
    const changed = await traced(
      'commit',
      () => ({ updates: changes.length }),
      () => this.#commit(changes)
    )
    for (const committed of this.#committed) committed((performance.now() - since) / 1000)
    return changed
  }

  #commit(changes: readonly TxUpdate[]): Promise<boolean> {
    return commitMutation(this.#committing, async work => {
      const txids = new Set(changes.map(({ txid }) => bytesKey(txid)))
      await this.store.run(
        applyUpdates(work, changes, { events: this.events, now: this.#committing.now(), txids })
      )
      const gone = [...work.records()]
        .filter(([, { before, after }]) => before && !after)
        .map(([txid]) => txid)
      const writes = changes.flatMap(change => [...change.extraWrites, ...this.#positionWrites(change)])
      const proved = changes.flatMap(({ txid, isProved }) => (isProved ? [bytesKey(txid)] : []))
      const evaluated = changes.filter(({ appliedTopics }) => appliedTopics.size > 0)
      return {
        ...(evaluated.length > 0 && {
          evaluated: new Map(evaluated.map(({ txid, appliedTopics }) => [bytesKey(txid), appliedTopics]))
        }),
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

  #positionWrites({ txid, position }: TxUpdate): ((batch: Batch) => void | Promise<void>)[] {
    if (position === undefined) return []
    return this.#positioning.map(hook => batch => hook(batch, txid, position))
  }

  /** Saves outputs of a transaction: satoshis, events and data, and its block position. */
  saveOutputs(txid: Txid, saved: readonly SavedOutput[], at: TxUpdateOptions = {}): Promise<boolean> {
    const change = new TxUpdate(txid, at)
    for (const { vout, ...output } of saved) change.output(vout, this.indexed(txid, output))
    return this.commit(change)
  }

  /** The update of an output, with the events of every output. */
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

  /** Adds events and data to an output. */
  saveEvents(outpoint: Outpoint, change: OutputUpdate, at: TxUpdateOptions = {}): Promise<boolean> {
    return this.commit(new TxUpdate(txidOf(outpoint), at).output(voutOf(outpoint), change))
  }

  /** Saves the spend of an output with these events. */
  saveSpend(
    outpoint: Outpoint,
    spender: Txid,
    events: SpentEvents = [],
    at: TxUpdateOptions = {}
  ): Promise<boolean> {
    return this.commit(new TxUpdate(spender, at).spend(outpoint, events))
  }

  /** Adds an output to a topic. */
  admit(
    topic: Topic,
    outpoint: Outpoint,
    admission: Admission = {},
    at: TxUpdateOptions = {}
  ): Promise<boolean> {
    return this.commit(new TxUpdate(txidOf(outpoint), at).admit(topic, voutOf(outpoint), admission))
  }

  /** Changes the block position of a transaction, `null` for unmined, and rescores all its rows. */
  move(
    txid: Txid,
    position: BlockPosition | null,
    also: (batch: Batch) => void = () => undefined
  ): Promise<boolean> {
    return this.commit(new TxUpdate(txid, { position }).addWrites(also))
  }

  /**
   * Rolls back a transaction and its descendants in one batch: removes their writes, and makes the outputs that they
   * spent unspent. Answers the transactions.
   */
  async rollback(txid: Txid, cause?: RollbackCause): Promise<Txid[]> {
    let gone: string[] = []
    const known = await this.transactions.get(txid)
    await commitMutation(this.#committing, async work => {
      const visited = await this.store.run(rollback(work, bytesKey(txid), known?.outputs.length))
      gone = visited.filter(name => work.record(name).before)
      return { extraWrites: batch => this.#forget(batch, visited, cause) }
    })
    return gone.map(txidFromMapKey)
  }

  /** Rolls back all transactions mined above a height, the last first. */
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

  /** Deletes the stored transactions and proofs, and the rows of `onForget`. */
  async #forget(batch: Batch, txids: readonly string[], cause?: RollbackCause): Promise<void> {
    for (const name of txids) {
      const txid = txidFromMapKey(name)
      this.transactions.removeIn(batch, txid)
      batch.use(log).at('rollback').add(txid, this.#committing.now())
      for (const forget of this.#forgetting) await forget(batch, txid, cause)
    }
  }

  /** Adds writes to the commits that roll back a transaction, for rows outside of the index. */
  onForget(forget: ForgetHook): void {
    this.#forgetting.push(forget)
  }

  /** Adds writes to the commits that change the block position of a transaction. */
  onPosition(hook: PositionHook): void {
    this.#positioning.push(hook)
  }

  /** Adds writes to the commits that store verified transactions, ancestors among them. */
  onStored(hook: StoredHook): void {
    this.#storing.push(hook)
  }

  /**
   * Adds writes to the commits that change the transactions of a topic in a block: one enters or leaves it, or the topic
   * evaluates one of it.
   */
  onBlock(hook: BlockHook): void {
    this.#blockHooks.push(hook)
  }

  /** Runs the hooks of `onStored`, without a promise while they are synchronous. */
  storedIn(batch: Batch, transaction: Transaction, topics: ReadonlySet<Topic>): void | Promise<void> {
    return writeAll(
      batch,
      this.#storing.map(hook => each => hook(each, transaction, topics))
    )
  }

  /** Calls back after each commit, with the seconds that it took until it was durable. */
  onCommit(committed: (seconds: number) => void): void {
    this.#committed.push(committed)
  }

  /** Calls back after each commit of this process with the topics whose membership logs it appended to. */
  onMembership(changed: (topics: readonly Topic[]) => void): void {
    this.#membershipChanged.push(changed)
  }

  /** The membership log of a topic. */
  membership(topic: Topic): MembershipLog {
    return new MembershipLog(this.store, topic)
  }

  /** Outpoints and scores, a page at a time. */
  search(query: OutputSearch): Promise<Page<FoundOutput>> {
    return searchOutpoints(this.store, this.events, query)
  }

  /** Found outputs with the properties that the options include. */
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
   * The sum of the unspent outputs of a search. A single event with a kept balance is one read; otherwise the outputs
   * are added up, to the limit if one is given.
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
    this.events.parseQuery(key)
    const [sum, count] = await Promise.all([
      this.store.use(balances).at('satoshis').score(key),
      this.store.use(balances).at('outputs').score(key)
    ])
    return { satoshis: BigInt(sum ?? 0), outputs: count ?? 0 }
  }

  /** The outputs in the order of their outpoints; `null` for an unknown one. */
  loadOutputs(outpoints: readonly Outpoint[], options: LoadOptions = {}): Promise<(LoadedOutput | null)[]> {
    return loadOutputs(this.store, this.transactions, outpoints, options)
  }

  /** The same as part of a plan, without transactions and proofs. */
  outputsPlan(
    outpoints: readonly Outpoint[],
    options: Parameters<typeof outputsPlan>[1]
  ): ReadPlan<(LoadedOutput | null)[]> {
    return outputsPlan(outpoints, options)
  }

  async loadOutput(outpoint: Outpoint, options: LoadOptions = {}): Promise<LoadedOutput | null> {
    return (await this.loadOutputs([outpoint], options))[0]!
  }

  /** Whether each output is known: `loadOutputs` answers `null` for the others. */
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

  /** The outputs of a transaction that a topic admitted. */
  async loadOutputsByTxidForTopic(
    txid: Txid,
    topic: Topic,
    options: LoadOptions = {}
  ): Promise<LoadedOutput[]> {
    const hashes = await this.store.hrange(outputHashes.scan(txid))
    const admitted = hashes.filter(({ fields }) => outputState(fields).topics.includes(topic))
    return this.#loadKnown(
      admitted.map(({ key }) => key),
      options
    )
  }

  async #loadKnown(keys: readonly Uint8Array[], options: LoadOptions): Promise<LoadedOutput[]> {
    const outpoints = keys.map(key => makeOutpoint(...outputHashes.decode(key)))
    return (await this.loadOutputs(outpoints, options)).filter(each => each !== null)
  }

  /** The outputs of a topic that consume an output: the outputs of its spender. */
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

  /** The satoshis of each output, or `null` if unknown. */
  async satoshis(outpoints: readonly Outpoint[]): Promise<(bigint | null)[]> {
    const hashes = await this.store.mhgetall(
      outpoints.map(outpoint => outputHashes.encode(txidOf(outpoint), voutOf(outpoint)))
    )
    return hashes.map(fields => satoshisIn(fields) ?? null)
  }

  /**
   * Verified transactions with a record in the index, for `verifyBeef`. A stored transaction without a record lost it
   * with the last writes of the database, and is indexed again.
   */
  readonly known: KnownLookup = txids => this.store.run(this.#planKnown(txids));

  *#planKnown(txids: readonly Txid[]): ReadPlan<(KnownTransaction | undefined)[]> {
    const records = yield* ask(reads => reads.hmget(SPENDS, txids))
    const indexed = txids.filter((_, i) => records[i])
    const known = yield* this.transactions.planKnown(indexed)
    let next = 0
    return records.map(record => (record ? known[next++] : undefined))
  }

  /** The record of a transaction. */
  record(txid: Txid): Promise<TransactionRecord | undefined> {
    return this.store.run(this.recordPlan(txid))
  }

  /** The same as part of a plan. */
  *recordPlan(txid: Txid): ReadPlan<TransactionRecord | undefined> {
    const record = yield* ask(reads => reads.hget(SPENDS, txid))
    return record && transactionRecord.codec.decode(record)
  }

  /**
   * A condition for a later batch: the records of transactions are as they are at this call, so that neither their outputs
   * nor their topics have changed.
   */
  async recordsUnchanged(txids: readonly Txid[]): Promise<(batch: Batch) => void> {
    const records = await this.store.hmget(SPENDS, txids)
    return batch => {
      for (const [i, txid] of txids.entries()) batch.ifField(SPENDS, txid, records[i])
    }
  }

  async isInTopic(topic: Topic, outpoint: Outpoint): Promise<boolean> {
    return (await this.store.use(topicOutputs).at(topic).score(outpoint)) !== undefined
  }

  async isApplied(topic: Topic, txid: Txid): Promise<boolean> {
    return (await this.store.use(topicTransactions).at(topic).score(txid)) !== undefined
  }

  /** Transactions refused because another one spends the output, in the order of their refusals. */
  async conflicts(outpoint: Outpoint): Promise<Txid[]> {
    const rows = await this.store.use(conflicts).at(txidOf(outpoint), voutOf(outpoint)).range()
    return rows.map(({ member }) => member)
  }

  /** Changes after a position of the journal, then changes as they are committed. */
  follow(options?: FollowOptions): JournalSubscription {
    return this.journal.follow(options)
  }
}

/** Runs writes in order, without a promise while they are synchronous. */
const writeAll = (
  batch: Batch,
  writes: readonly ((batch: Batch) => void | Promise<void>)[]
): void | Promise<void> => {
  for (const [i, write] of writes.entries()) {
    const writing = write(batch)
    if (writing) return writing.then(() => writeAll(batch, writes.slice(i + 1)))
  }
}
