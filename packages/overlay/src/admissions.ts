/**
 * Stored admissions: the decisions of topics on a transaction, under `t:{txid}:judged`. An admission and the record of
 * its transaction are written in one commit. A database that has lost writes may have the admission alone; then it
 * vouches for outputs that are not there, and does not count.
 */
import type { Transaction } from '@quoin/chain'
import { makeOutpoint, type Outpoint, type Topic, type Txid } from '@quoin/primitives'
import type { Batch, ReadPlan, StoreReads } from '@quoin/store'
import type { OutputStore, TxUpdate } from '@quoin/txo'
import { isPromise } from './evaluate.ts'
import { type Admissions, admissions, evictions, offChainValues } from './keys.ts'
import { type AnyLookup, isQuoinLookup, type PreviousCoin } from './types.ts'

/** Admissions whose topics are in the record of the transaction. An unknown transaction costs one read. */
export const confirmedAdmissions = (outputs: OutputStore, txid: Txid): Promise<Admissions> =>
  outputs.store.run(planConfirmed(outputs, txid))

function* planConfirmed(outputs: OutputStore, txid: Txid): ReadPlan<Admissions> {
  const stored = yield* outputs.store.use(admissions).plan(txid)
  if (!stored) return {}
  const { topics = [] } = (yield* outputs.recordPlan(txid)) ?? {}
  return Object.fromEntries(Object.entries(stored).filter(([topic]) => topics.includes(topic as Topic)))
}

/** Outputs of a transaction that an operator evicted. */
export const evictedOutputs = async (reads: StoreReads, txid: Txid): Promise<ReadonlySet<number>> => {
  const prefix = evictions.encode(txid, 0).slice(0, -4)
  const rows = await reads.range(prefix)
  return new Set(rows.filter(({ key }) => evictions.owns(key)).map(({ key }) => evictions.decode(key)[1]))
}

/**
 * For each output, the topics that admitted it; none for an evicted output. A coin that a spender removed from the topic
 * is a coin for another spender as well: the first to arrive does not decide which of two stays.
 */
function* topicsEverAdmitting(
  { store }: OutputStore,
  coins: readonly { readonly txid: Txid; readonly vout: number }[]
): ReadPlan<string[][]> {
  const stored = yield* store.use(admissions).planMany(coins.map(({ txid }) => [txid]))
  const topics = coins.map(({ vout }, i) =>
    Object.entries(stored[i] ?? {}).flatMap(([topic, { outputsToAdmit }]) =>
      outputsToAdmit.includes(vout) ? topic : []
    )
  )
  if (topics.every(({ length }) => length === 0)) return topics
  const evicted = yield* store.use(evictions).planMany(coins.map(({ txid, vout }) => [txid, vout]))
  return topics.map((each, i) => (evicted[i] === undefined ? each : []))
}

type ByTopic<T> = ReadonlyMap<string, readonly T[]>

/** For each topic, the inputs that spend outputs which it admitted. */
export const coinInputs = (
  outputs: OutputStore,
  transaction: Transaction,
  topics: readonly string[]
): Promise<ByTopic<number>> => outputs.store.run(planCoinInputs(outputs, transaction, topics))

function* planCoinInputs(
  outputs: OutputStore,
  { inputs }: Transaction,
  topics: readonly string[]
): ReadPlan<ByTopic<number>> {
  const outpoints = inputs.map(({ txid, vout }) => makeOutpoint(txid, vout))
  const loaded = yield* outputs.outputsPlan(outpoints, { includeTopics: true })
  const members = inputs.map((_, i): readonly string[] => loaded[i]?.topics ?? [])
  const unsure = [...inputs.keys()].filter(i => !topics.every(topic => members[i]!.includes(topic)))
  const coins = unsure.map(i => inputs[i]!)
  const ever = yield* topicsEverAdmitting(outputs, coins)
  const admitting = members.map((each, i) => [...each, ...(ever[unsure.indexOf(i)] ?? [])])
  return new Map(topics.map(topic => [topic, [...inputs.keys()].filter(i => admitting[i]!.includes(topic))]))
}

/** For each topic, its coins with the outputs that the inputs spend. */
export const previousCoins = (
  outputs: OutputStore,
  transaction: Transaction,
  topics: readonly string[]
): Promise<ByTopic<PreviousCoin>> => outputs.store.run(planPreviousCoins(outputs, transaction, topics))

function* planPreviousCoins(
  outputs: OutputStore,
  transaction: Transaction,
  topics: readonly string[]
): ReadPlan<ByTopic<PreviousCoin>> {
  const coins = yield* planCoinInputs(outputs, transaction, topics)
  const inputs = [...new Set([...coins.values()].flat())]
  if (inputs.length === 0) return new Map(topics.map(topic => [topic, []]))
  const sources = yield* outputs.transactions.planMany(inputs.map(input => transaction.inputs[input]!.txid))
  const spent = new Map<number, PreviousCoin>()
  for (const [i, input] of inputs.entries()) {
    const { txid, vout } = transaction.inputs[input]!
    const output = sources[i]?.outputs[vout]
    if (output) spent.set(input, { input, outpoint: makeOutpoint(txid, vout), output })
  }
  return new Map([...coins].map(([topic, all]) => [topic, all.flatMap(input => spent.get(input) ?? [])]))
}

/** Whether an input that was not a coin of a topic has become one. */
export function* hasNewCoins(
  outputs: OutputStore,
  { inputs }: Transaction,
  coins: ByTopic<number>
): ReadPlan<boolean> {
  const others = inputs.map((_, i) =>
    [...coins].filter(([, all]) => !all.includes(i)).map(([topic]) => topic)
  )
  const unsure = [...inputs.keys()].filter(i => others[i]!.length > 0)
  const spent = unsure.map(i => inputs[i]!)
  const admitting = yield* topicsEverAdmitting(outputs, spent)
  return unsure.some((i, at) => others[i]!.some(topic => admitting[at]!.includes(topic)))
}

export interface AdmittedOutputs {
  readonly transaction: Transaction
  readonly topic: Topic
  readonly vouts: readonly number[]
  /** Coins that the outputs keep in the topic. */
  readonly inputs: readonly Outpoint[]
  readonly previousCoins: readonly PreviousCoin[]
  readonly offChainValues?: Uint8Array | undefined
  /** The outputs were members before, and left with a spender that was rolled back. */
  readonly isRestored?: boolean
}

/** Adds outputs that a topic admits to an update, with the events and data of the lookups in Quoin's form. */
export const admitOutputs = async (
  update: TxUpdate,
  lookups: ReadonlyMap<string, AnyLookup>,
  { transaction, topic, vouts, inputs, previousCoins, offChainValues, isRestored = false }: AdmittedOutputs
): Promise<void> => {
  const indexing = [...lookups.values()]
    .filter(isQuoinLookup)
    .filter(({ topics }) => !topics || topics.includes(topic))
  for (const vout of vouts) {
    const output = transaction.outputs[vout]!
    const outpoint = makeOutpoint(transaction.txid, vout)
    update.admit(topic, vout, { inputs, isRestored }).output(vout, { satoshis: output.satoshis })
    for (const lookup of indexing) {
      const indexing = lookup.index({
        topic,
        transaction,
        outpoint,
        output,
        previousCoins,
        offChainValues
      })
      // Most lookups index without a promise.
      const indexed = isPromise(indexing) ? await indexing : indexing
      if (!indexed) continue
      update.output(vout, indexed)
      if (indexed.extraWrites) update.addWrites(indexed.extraWrites)
    }
  }
}

/** The off-chain values that a transaction was submitted with. */
export const readOffChainValues = async (reads: StoreReads, txid: Txid): Promise<Uint8Array | undefined> => {
  const stored = await reads.use(offChainValues).get(txid)
  return stored === undefined ? undefined : new Uint8Array(Buffer.from(stored, 'base64'))
}

export const saveOffChainValuesIn = (batch: Batch, txid: Txid, values: Uint8Array): void => {
  batch.use(offChainValues).at(txid).set(Buffer.from(values).toString('base64'))
}

/** Part of the commit that rolls back a transaction. */
export const removeAdmissionsIn = async (reads: StoreReads, batch: Batch, txid: Txid): Promise<void> => {
  const stored = await reads.use(admissions).get(txid)
  if (!stored) return
  batch.use(admissions).at(txid).delete()
  batch.use(offChainValues).at(txid).delete()
  const vouts = new Set(Object.values(stored).flatMap(({ outputsToAdmit }) => outputsToAdmit))
  for (const vout of vouts) batch.use(evictions).at(txid, vout).delete()
}
