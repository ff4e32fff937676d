/**
 * Rebuilds the index from its sources: the stored transactions and proofs, the times of first sighting, the admissions
 * of topics, and the events and data of plug-ins. A difference is an error of the live index.
 *
 * A lost record or output is derived from the rows that name it: the logs of transactions, the sorted sets of topics
 * and of the event `txid`.
 */
import {
  type Bump,
  type CheckedTransaction,
  chain,
  checkedTransaction,
  checkedTransactions,
  type Transaction
} from '@quoin/chain'
import {
  bytesKey,
  equalBytes,
  hasCode,
  makeOutpoint,
  type Outpoint,
  QuoinError,
  type Topic,
  type Txid
} from '@quoin/primitives'
import type { Store, StoreReads } from '@quoin/store'
import type { AmountLedger } from './amount-ledger.ts'
import { fieldPages, hashesOf, keysOfSets, membersOf } from './compare.ts'
import { EventRegistry, type EventTypes, outputEvents, withStored } from './events.ts'
import { indexOutput } from './index-transaction.ts'
import { outputs } from './keys.ts'
import { type OutputState, outputState } from './output-state.ts'
import { OutputStore } from './output-store.ts'
import type { BlockPosition } from './position.ts'
import { type TransactionRecord, transactionRecord } from './record.ts'
import { PARSERS, scriptEvents } from './scripts/index.ts'
import { type OutputUpdate, TxUpdate } from './tx-update.ts'

export interface RebuildOptions {
  /** The types of events of the store. */
  readonly events?: EventTypes
  /** The parsers of the indexer, by tag; all unless given. */
  readonly tags?: readonly string[]
  /** The ledger of the store. */
  readonly ledger?: AmountLedger
  readonly onProgress?: (done: number, total: number) => void
  /** Outputs of a transaction that an operator evicted. */
  readonly erased?: (txid: Txid) => Promise<ReadonlySet<number>>
  /** Called once for each stored transaction. */
  readonly onTransaction?: (checked: CheckedTransaction) => void
}

const { output: outputHashes, spends, topicOutputs, topicTransactions } = outputs.collections
const { log } = chain.collections
const SPENDS = spends.encode()
const PENDING = log.encode('pending').slice()
/** Scores below are heights. */
const FIRST_SECONDS = 500_000_000
const TOPICS = new TextEncoder().encode('z:tp:')
const TXID_LENGTH = 32
/** Transactions of one commit, which share its wait for the disk. */
const AT_ONCE = 64
const REPORTED = 500

/** Indexes every transaction of a store in an empty one; answers their number. */
export const rebuildIndex = async (
  from: StoreReads,
  into: Store,
  options: RebuildOptions = {}
): Promise<number> => {
  const rebuild = new Rebuild(from, into, options)
  await rebuild.run()
  return rebuild.done
}

class Rebuild {
  readonly #from: StoreReads
  readonly #into: OutputStore
  readonly #options: RebuildOptions
  readonly #topics = new Map<Topic, { readonly outputs: Uint8Array; readonly transactions: Uint8Array }>()
  #total = 0
  done = 0

  constructor(from: StoreReads, into: Store, options: RebuildOptions) {
    this.#from = from
    this.#options = options
    this.#into = new OutputStore(into, {
      events: withStored(options.events ?? INDEXED),
      journal: 0,
      ...(options.ledger && { ledger: options.ledger })
    })
  }

  async run(): Promise<void> {
    const logs = await Promise.all(
      (['pending', 'mined'] as const).map(each => this.#from.use(log).at(each).count())
    )
    this.#total = logs.reduce((sum, each) => sum + each, 0)
    await this.#readTopics()
    await this.#writeMined()
    for await (const fields of fieldPages(this.#from, SPENDS)) {
      const records = fields.filter(({ field }) => field.length === TXID_LENGTH)
      await this.#play(records.map(({ field, value }) => [field as Txid, readRecord(value)]))
    }
    await this.#playLost()
    this.#options.onProgress?.(this.done, this.done)
  }

  /** Writes the log of mined transactions: all with a proof, indexed or not. */
  async #writeMined(): Promise<void> {
    const { store } = this.#into
    let batch = store.batch()
    let rows = 0
    for await (const checked of checkedTransactions(this.#from)) {
      this.#options.onTransaction?.(checked)
      const { txid, transaction, proof } = checked
      if (!transaction || !proof) continue
      const { height, index } = positionOf(proof, txid)
      batch
        .use(log)
        .at('mined')
        .add(txid, height + Number(index) / 1e9)
      if (++rows % REPORTED > 0) continue
      await batch.commit()
      batch = store.batch()
    }
    await batch.commit()
  }

  async #readTopics(): Promise<void> {
    for await (const key of keysOfSets(this.#from, TOPICS)) {
      if (!topicOutputs.owns(key) && !topicTransactions.owns(key)) continue
      const [topic] = (topicOutputs.owns(key) ? topicOutputs : topicTransactions).decode(key)
      this.#topics.set(topic, {
        outputs: topicOutputs.encode(topic).slice(),
        transactions: topicTransactions.encode(topic).slice()
      })
    }
  }

  async #play(records: readonly (readonly [Txid, TransactionRecord | undefined])[]): Promise<void> {
    for (let start = 0; start < records.length; start += AT_ONCE) {
      await Promise.all(
        records.slice(start, start + AT_ONCE).map(async ([txid, record]) => {
          const change = await this.#changeOf(txid, record)
          if (change) await this.#into.commit(change).catch(passConflict)
        })
      )
      this.#report(Math.min(AT_ONCE, records.length - start))
    }
  }

  #report(done: number): void {
    const before = this.done
    this.done += done
    if (Math.floor(before / REPORTED) === Math.floor(this.done / REPORTED)) return
    this.#options.onProgress?.(this.done, Math.max(this.done, this.#total))
  }

  /** Transactions without a record that rows of the index name. */
  async #playLost(): Promise<void> {
    let waiting: Txid[] = []
    const play = async (): Promise<void> => {
      const records = await this.#from.hmget(SPENDS, waiting)
      const lost = waiting.filter((_, i) => records[i] === undefined)
      waiting = []
      await this.#play(lost.map(txid => [txid, undefined]))
    }
    for await (const txid of this.#named()) {
      const last = waiting.at(-1)
      if (last && equalBytes(last, txid)) continue
      waiting.push(txid)
      if (waiting.length >= REPORTED) await play()
    }
    await play()
  }

  async *#named(): AsyncGenerator<Txid, void, undefined> {
    for await (const { key } of hashesOf(this.#from)) {
      if (outputHashes.owns(key)) yield outputHashes.decode(key)[0]
    }
    for (const { transactions } of this.#topics.values()) {
      for await (const { member } of membersOf(this.#from, transactions)) yield member as Txid
    }
  }

  /** The update that a transaction implies. */
  async #changeOf(txid: Txid, stored: TransactionRecord | undefined): Promise<TxUpdate | undefined> {
    const { transaction, proof } = await checkedTransaction(this.#from, txid)
    const record = stored ?? (transaction && (await this.#lostRecord(transaction)))
    if (!record) return undefined
    const position = proof ? positionOf(proof, txid) : record.position
    const change = new TxUpdate(txid, { seen: record.seen, position, vouts: record.vouts }).ensure()
    for (const topic of record.topics) change.markApplied(topic)
    const states = await this.#statesOf(txid)
    const isIndexed = transaction !== undefined && (await this.#isIndexed(txid, states))
    await this.#spendIn(change, record, transaction, isIndexed)
    const erased = await this.#options.erased?.(txid)
    const lost = transaction ? await this.#lostAdmissions(transaction, record.topics, states) : []
    const vouts = isIndexed
      ? transaction.outputs.keys()
      : new Set([...states.keys(), ...lost.map(([, vout]) => vout)])
    for (const vout of vouts) {
      const state = states.get(vout)
      if (!state && erased?.has(vout)) continue
      change.output(vout, this.#outputOf(transaction, vout, state, isIndexed))
      if (state) admitIn(change, vout, state)
    }
    for (const [topic, vout] of lost) if (!erased?.has(vout)) change.admit(topic, vout)
    return change
  }

  #outputOf(
    transaction: Transaction | undefined,
    vout: number,
    state: OutputState | undefined,
    isIndexed: boolean
  ): OutputUpdate {
    if (transaction && isIndexed) return indexedOutput(transaction, vout, state, this.#options.tags)
    if (state) return storedOutput(transaction, vout, state)
    return { satoshis: transaction!.outputs[vout]!.satoshis }
  }

  /** The time of first sighting and the applied topics, from rows of the index. */
  async #lostRecord({ txid, outputs }: Transaction): Promise<TransactionRecord> {
    const names = [...this.#topics.keys()].sort()
    const keys = names.map(topic => this.#topics.get(topic)!.transactions)
    const [scores = []] = await this.#from.unchecked.zscores([PENDING, ...keys], [txid])
    const seen = scores.find(score => score !== undefined && score >= FIRST_SECONDS)
    return {
      revision: 0,
      seen: seen ?? Date.now() / 1000,
      vouts: outputs.length,
      topics: names.filter((_, i) => scores[i + 1] !== undefined),
      spends: []
    }
  }

  /** Outputs without a hash that the sorted set of a topic has. */
  async #lostAdmissions(
    { txid, outputs }: Transaction,
    topics: readonly Topic[],
    states: ReadonlyMap<number, OutputState>
  ): Promise<[Topic, number][]> {
    const vouts = [...outputs.keys()].filter(vout => !states.has(vout))
    const known = topics.filter(topic => this.#topics.has(topic))
    if (vouts.length === 0 || known.length === 0) return []
    const scores = await this.#from.unchecked.zscores(
      known.map(topic => this.#topics.get(topic)!.outputs),
      vouts.map(vout => makeOutpoint(txid, vout))
    )
    return vouts.flatMap((vout, i) =>
      known.filter((_, j) => scores[i]![j] !== undefined).map((topic): [Topic, number] => [topic, vout])
    )
  }

  async #statesOf(txid: Txid): Promise<Map<number, OutputState>> {
    const hashes = await this.#from.hrange(outputHashes.scan(txid))
    return new Map(hashes.map(({ key, fields }) => [outputHashes.decode(key)[1], outputState(fields)]))
  }

  /** Whether the indexer wrote the outputs: it gives the event `txid` to every output of a transaction. */
  async #isIndexed(txid: Txid, states: ReadonlyMap<number, OutputState>): Promise<boolean> {
    const mark = outputEvents.types.txid.text(txid)
    for (const state of states.values()) if (state.events.includes(mark)) return true
    return (await this.#from.zrange(INDEXED.parse(mark).index, { count: 1 })).length > 0
  }

  /** A transaction with a spend in the index spends all its inputs. */
  async #spendIn(
    change: TxUpdate,
    { spends: recorded }: TransactionRecord,
    transaction: Transaction | undefined,
    isIndexed: boolean
  ): Promise<void> {
    const told = new Map(recorded.map(({ outpoint, events }) => [bytesKey(outpoint), events]))
    let outpoints = recorded.map(({ outpoint }) => outpoint)
    if (transaction && !transaction.isCoinbase) {
      const all = transaction.inputs.map(({ txid, vout }) => makeOutpoint(txid, vout))
      if (isIndexed || told.size > 0 || (await this.#isSpender(transaction.txid, all))) outpoints = all
    }
    for (const outpoint of outpoints) change.spend(outpoint, told.get(bytesKey(outpoint)) ?? [])
  }

  async #isSpender(txid: Txid, outpoints: readonly Outpoint[]): Promise<boolean> {
    const spenders = await this.#from.hmget(SPENDS, outpoints)
    return spenders.some(spender => spender && equalBytes(spender, txid))
  }
}

/** The second spender of an output is not indexed: its rows are reported as differences. */
const passConflict = (error: unknown): void => {
  if (!hasCode(error, 'ERR_TXO_CONFLICT')) throw error
}

/** The record; undefined if it is corrupt. */
const readRecord = (value: Uint8Array): TransactionRecord | undefined => {
  try {
    return transactionRecord.codec.decode(value)
  } catch (error) {
    if (error instanceof QuoinError) return undefined
    throw error
  }
}

const positionOf = (proof: Bump, txid: Txid): BlockPosition => ({
  height: proof.height,
  index: BigInt(proof.offsetOf(txid)!)
})

/** The indexer's update of an output, with the events and data of other writers. */
const indexedOutput = (
  transaction: Transaction,
  vout: number,
  state: OutputState | undefined,
  tags: readonly string[] | undefined
): OutputUpdate => {
  const derived = indexOutput(transaction, vout, tags)
  if (!state) return derived
  const data = Object.entries(state.allData()).filter(([tag]) => !PARSERS.has(tag))
  return {
    satoshis: derived.satoshis,
    events: [...derived.events, ...state.events.filter(event => !INDEXED.find(event))],
    data: { ...derived.data, ...Object.fromEntries(data) }
  }
}

/** The types of events of the indexer. */
const INDEXED = new EventRegistry(outputEvents, scriptEvents)

/** The update of an output that the indexer did not write, from its state. */
const storedOutput = (
  transaction: Transaction | undefined,
  vout: number,
  state: OutputState
): OutputUpdate => ({
  ...(state.satoshis !== undefined && {
    satoshis: transaction?.outputs[vout]?.satoshis ?? Number(state.satoshis)
  }),
  events: state.events,
  data: state.allData()
})

const admitIn = (change: TxUpdate, vout: number, state: OutputState): void => {
  for (const topic of state.topics) {
    change.admit(topic, vout, { inputs: state.inputs(topic), dependencies: state.dependencies(topic) })
    if (state.isMarkedSpent(topic)) change.markSpent(topic, vout)
  }
}
