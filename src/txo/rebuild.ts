/**
 * The index built anew in memory from what cannot be derived: the stored transactions and proofs, when each was first
 * seen, which topics admitted what, and what plug-ins said. Where the rebuilt index differs, the live one is wrong.
 */
import { type Bump, chain, parseTransaction, type Transaction, TransactionStore } from '../chain/index.ts'
import {
  compareBytes,
  makeOutpoint,
  prefixEnd,
  QuoinError,
  successor,
  type Txid,
  toHex
} from '../keyspace/index.ts'
import { openStore, type Store, type StoreReads } from '../store/index.ts'
import { Change, type OutputChange } from './change.ts'
import { compareIndexes, type Difference } from './compare.ts'
import { EventRegistry, type EventTypes, outputEvents, withStored } from './events.ts'
import { indexOutput } from './index-transaction.ts'
import { outputFields, outputs, satoshisFields, spendFields } from './keys.ts'
import type { Ledger } from './ledger.ts'
import { fieldName, type OutputState, outputState } from './output-state.ts'
import { OutputStore } from './output-store.ts'
import type { BlockPosition } from './position.ts'
import type { TransactionRecord } from './record.ts'
import { PARSERS, scriptEvents } from './scripts/index.ts'

export interface VerifyOptions {
  /** The types of events that the store has. */
  readonly events?: EventTypes
  /** The parsers that the indexer used; all unless given. */
  readonly tags?: readonly string[]
  /** The ledger that the store was written with. */
  readonly ledger?: Ledger
  readonly onProgress?: (done: number, total: number) => void
  /** Differences to report at most, 1,000 unless given. */
  readonly limit?: number
}

export interface Verdict {
  readonly transactions: number
  readonly differences: readonly Difference[]
}

const { output: outputHashes, satoshis, spends } = outputs.collections
const { transaction: recordField } = spendFields.collections
const { inputs, dependencies, spent } = outputFields.collections
const { transaction: stored } = chain.collections
const PAGE = 1000

/** Rebuilds the index of one state of a store in memory, and compares. The store is left as it is. */
export const verifyIndex = async (store: Store, options: VerifyOptions = {}): Promise<Verdict> => {
  const memory = await openStore('memory:')
  try {
    return await store.snapshot(async reads => {
      const transactions = await rebuild(reads, memory, options)
      const differences: Difference[] = []
      for await (const difference of compareIndexes(reads, memory)) {
        differences.push(difference)
        if (differences.length >= (options.limit ?? 1000)) break
      }
      return { transactions, differences }
    })
  } finally {
    await memory.close()
  }
}

/** Plays what is known of every transaction into an empty store; answers how many there are. */
const rebuild = async (from: StoreReads, into: Store, options: VerifyOptions): Promise<number> => {
  const rebuilt = new OutputStore(into, {
    events: withStored(options.events ?? INDEXED),
    journal: 0,
    ...(options.ledger && { ledger: options.ledger })
  })
  await copyTransactions(from, rebuilt)
  const records = (await from.use(spends).at().all()).entries(recordField)
  for (const [done, { key, value }] of records.entries()) {
    if (done % PAGE === 0) options.onProgress?.(done, records.length)
    const change = await changeOf(from, rebuilt.transactions, key[0], value, options.tags)
    await rebuilt.commit(change).catch((error: unknown) => {
      // Two spenders of one output: that the second is missing is the difference to report.
      if (!(error instanceof QuoinError && error.code === 'ERR_TXO_CONFLICT')) throw error
    })
  }
  options.onProgress?.(records.length, records.length)
  return records.length
}

/** Those that are what their keys say, with the proofs that are of them. */
const copyTransactions = async (from: StoreReads, { store, transactions }: OutputStore): Promise<void> => {
  const reading = new TransactionStore(from)
  const prefix = stored.encode(new Uint8Array(32) as Txid).subarray(0, -32)
  for (let start = prefix; ; ) {
    const rows = await from.range({ start, end: prefixEnd(prefix), reverse: false }, { limit: PAGE })
    for (const { key, value } of rows) {
      // The rest of what belongs to it lies beside it.
      if (!stored.owns(key)) continue
      const [txid] = stored.decode(key)
      const { raw, verified } = stored.value.codec.decode(value)
      const transaction = ifReadable(() => parseTransaction(raw))
      if (!transaction || compareBytes(transaction.txid, txid) !== 0) continue
      const batch = store.batch()
      transactions.saveIn(batch, transaction, { verified })
      const proof = await reading.proof(txid)
      if (proof?.offsetOf(txid) !== undefined) transactions.saveProofIn(batch, txid, proof)
      await batch.commit()
    }
    if (rows.length < PAGE) return
    start = successor(rows.at(-1)!.key)
  }
}

const ifReadable = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch (error) {
    // What cannot be read is not copied, and so is a difference.
    if (error instanceof QuoinError) return undefined
    throw error
  }
}

/** What would have to be written for a transaction. */
const changeOf = async (
  from: StoreReads,
  transactions: TransactionStore,
  txid: Txid,
  record: TransactionRecord,
  tags: readonly string[] | undefined
): Promise<Change> => {
  const [transaction, proof] = [await transactions.get(txid), await transactions.proof(txid)]
  const position = proof ? positionOf(proof, txid) : record.position
  const change = new Change(txid, { seen: record.seen, position, vouts: record.vouts })
  for (const topic of record.topics) change.apply(topic)
  spendIn(change, record, transaction)
  const hashes = await from.hrange(outputHashes.scan(txid))
  const states = new Map(
    await Promise.all(
      hashes.map(async ({ key, fields }) => {
        const [, vout] = outputHashes.decode(key)
        return [vout, outputState(fields, await satoshisOf(from, txid, vout))] as const
      })
    )
  )
  const mark = outputEvents.types.txid.text(txid)
  const isIndexed = transaction && [...states.values()].some(state => state.events.includes(mark))
  for (const vout of isIndexed ? transaction.outputs.keys() : states.keys()) {
    const state = states.get(vout)
    change.output(
      vout,
      isIndexed ? indexedOutput(transaction, vout, state, tags) : toldOutput(transaction, vout, state!)
    )
    if (state) admitIn(change, vout, state)
  }
  return change
}

const positionOf = (proof: Bump, txid: Txid): BlockPosition => ({
  height: proof.height,
  index: BigInt(proof.offsetOf(txid)!)
})

/** One that spends anything that is known spends all its inputs. */
const spendIn = (
  change: Change,
  { spends: recorded }: TransactionRecord,
  transaction: Transaction | undefined
): void => {
  const told = new Map(recorded.map(({ outpoint, events }) => [toHex(outpoint), events]))
  const outpoints =
    transaction && recorded.length > 0
      ? transaction.inputs.map(({ txid, vout }) => makeOutpoint(txid, vout))
      : recorded.map(({ outpoint }) => outpoint)
  for (const outpoint of outpoints) change.spend(outpoint, told.get(toHex(outpoint)) ?? [])
}

/** What the indexer says of an output, and beside it what only others can have said. */
const indexedOutput = (
  transaction: Transaction,
  vout: number,
  state: OutputState | undefined,
  tags: readonly string[] | undefined
): OutputChange => {
  const derived = indexOutput(transaction, vout, tags)
  if (!state) return derived
  const data = Object.entries(state.allData()).filter(([tag]) => !PARSERS.has(tag))
  return {
    satoshis: derived.satoshis,
    events: [...derived.events, ...state.events.filter(event => !INDEXED.find(event))],
    data: { ...derived.data, ...Object.fromEntries(data) }
  }
}

/** The types of events that the indexer alone gives. */
const INDEXED = new EventRegistry(outputEvents, scriptEvents)

/** What others said of an output that the indexer has not seen. */
const toldOutput = (
  transaction: Transaction | undefined,
  vout: number,
  state: OutputState
): OutputChange => ({
  ...(state.satoshis !== undefined && {
    satoshis: transaction?.outputs[vout]?.satoshis ?? Number(state.satoshis)
  }),
  events: state.events,
  data: state.allData()
})

const satoshisOf = async (from: StoreReads, txid: Txid, vout: number): Promise<bigint | undefined> =>
  from.use(satoshis).at().get(satoshisFields.collections.satoshis, txid, vout)

const admitIn = (change: Change, vout: number, state: OutputState): void => {
  const field = <T>(name: Uint8Array, decode: (bytes: Uint8Array) => T): T | undefined => {
    const value = state.fields.get(fieldName(name))
    return value && decode(value)
  }
  for (const topic of state.topics) {
    change.admit(topic, vout, {
      inputs: field(inputs.encode(topic), inputs.value.codec.decode) ?? [],
      dependencies: field(dependencies.encode(topic), dependencies.value.codec.decode) ?? []
    })
    if (state.fields.has(fieldName(spent.encode(topic)))) change.markSpent(topic, vout)
  }
}
