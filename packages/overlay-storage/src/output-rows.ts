/**
 * Outputs in the form of `@bsv/overlay`: one row for each topic that admitted an output, with script, spend, consumers
 * and BEEF. The number of read rounds does not depend on the number of rows.
 */
import {
  type BeefTransaction,
  type Output,
  type Transaction,
  type TransactionStore,
  writeBeef
} from '@quoin/chain'
import {
  bytesKey,
  type ErrorCode,
  formatTxid,
  hasCode,
  makeOutpoint,
  type Outpoint,
  type Topic,
  type Txid,
  txidOf,
  voutOf
} from '@quoin/primitives'
import {
  type OutputState,
  type OutputStore,
  outputs as outputKeys,
  outputState,
  scoreOf,
  spendFields,
  type TransactionRecord
} from '@quoin/txo'

export interface EngineOutpoint {
  txid: string
  outputIndex: number
}

/** An output in a topic. */
export interface EngineOutput extends EngineOutpoint {
  outputScript: number[]
  satoshis: number
  topic: string
  spent: boolean
  /** Outputs of the topic that its transaction consumed. */
  outputsConsumed: EngineOutpoint[]
  /** Outputs of the topic that its spender created. */
  consumedBy: EngineOutpoint[]
  beef?: number[]
  blockHeight?: number
  score?: number
}

export interface StoredOutput {
  readonly outpoint: Outpoint
  readonly state: OutputState
}

const { output: outputHashes, spends } = outputKeys.collections
const { transaction: recordField } = spendFields.collections

/** One result for each outpoint; undefined for an unknown output. */
export const storedOutputs = async (
  { store }: OutputStore,
  outpoints: readonly Outpoint[]
): Promise<(StoredOutput | undefined)[]> => {
  const hashes = await store.mhgetall(
    outpoints.map(outpoint => outputHashes.encode(txidOf(outpoint), voutOf(outpoint)))
  )
  return outpoints.map((outpoint, i) => {
    const state = outputState(hashes[i]!)
    return state.isSaved ? { outpoint, state } : undefined
  })
}

/** The outputs of a transaction, in order. */
export const transactionOutputs = async ({ store }: OutputStore, txid: Txid): Promise<StoredOutput[]> =>
  (await store.hrange(outputHashes.scan(txid))).map(({ key, fields }) => ({
    outpoint: makeOutpoint(...outputHashes.decode(key)),
    state: outputState(fields)
  }))

export const isAdmitted = ({ state }: StoredOutput, topic: string): boolean =>
  state.topics.includes(topic as Topic)

export interface RowOptions {
  /** All topics unless given. */
  readonly topic?: string | undefined
  readonly includeBEEF: boolean
}

/** The rows of outputs, in their order. */
export const engineRows = async (
  outputs: OutputStore,
  found: readonly StoredOutput[],
  { topic, includeBEEF }: RowOptions
): Promise<EngineOutput[]> => {
  const txids = distinct(found.map(({ outpoint }) => txidOf(outpoint)))
  const [records, spenders, transactions, beefs] = await Promise.all([
    outputs.store
      .use(spends)
      .at()
      .getMany(
        recordField,
        txids.map(txid => [txid])
      ),
    outputs.spends(found.map(({ outpoint }) => outpoint)),
    outputs.transactions.getMany(txids),
    includeBEEF ? readBeefs(outputs.transactions, txids) : new Map<string, number[]>()
  ])
  const consumers = await outputsByTopic(
    outputs,
    spenders.filter(spender => spender !== null)
  )
  const numbers = new Map(txids.map((txid, number) => [bytesKey(txid), number]))
  return found.flatMap((output, i) => {
    const key = bytesKey(txidOf(output.outpoint))
    const number = numbers.get(key)!
    const [record, transaction] = [records[number], transactions[number]]
    const spender = spenders[i]
    const content = transaction?.outputs[voutOf(output.outpoint)]
    // Another writer may have saved or removed the output without its transaction: then there is no script.
    if (!record || !content) return []
    const topics = topic === undefined ? output.state.topics : [topic as Topic]
    return topics
      .filter(each => isAdmitted(output, each))
      .map(each =>
        rowOf(output, each, {
          record,
          content,
          isSpent: !!spender || output.state.isMarkedSpent(each),
          consumers: (spender && consumers.get(bytesKey(spender))?.get(each)) ?? [],
          beef: beefs.get(key)
        })
      )
  })
}

interface RowContent {
  readonly record: TransactionRecord
  readonly content: Output
  readonly isSpent: boolean
  readonly consumers: readonly Outpoint[]
  readonly beef: number[] | undefined
}

const rowOf = (
  { outpoint, state }: StoredOutput,
  topic: Topic,
  { record, content, isSpent, consumers, beef }: RowContent
): EngineOutput => ({
  ...engineOutpoint(outpoint),
  outputScript: [...content.script],
  satoshis: content.satoshis,
  topic,
  spent: isSpent,
  outputsConsumed: state.inputs(topic).map(engineOutpoint),
  consumedBy: consumers.map(engineOutpoint),
  score: scoreOf(record),
  ...(record.position && { blockHeight: record.position.height }),
  ...(beef && { beef })
})

const engineOutpoint = (outpoint: Outpoint): EngineOutpoint => ({
  txid: formatTxid(txidOf(outpoint)),
  outputIndex: voutOf(outpoint)
})

/** The outputs that each topic admitted, by the key of their transaction. */
const outputsByTopic = async (
  outputs: OutputStore,
  txids: readonly Txid[]
): Promise<Map<string, Map<string, Outpoint[]>>> =>
  new Map(
    await Promise.all(
      distinct(txids).map(async txid => {
        const topics = new Map<string, Outpoint[]>()
        for (const { outpoint, state } of await transactionOutputs(outputs, txid)) {
          for (const topic of state.topics) topics.set(topic, [...(topics.get(topic) ?? []), outpoint])
        }
        return [bytesKey(txid), topics] as const
      })
    )
  )

/** BEEF by the keys of txids. A transaction without all its ancestors has none. */
const readBeefs = async (
  transactions: TransactionStore,
  txids: readonly Txid[]
): Promise<Map<string, number[]>> => {
  const ancestry = await catchCodes(['ERR_TX_UNKNOWN', 'ERR_BEEF_LIMIT'], () => transactions.ancestry(txids))
  if (ancestry) {
    const all = new Map(ancestry.map(each => [bytesKey(each.txid), each]))
    const beefOf = (txid: Txid): Uint8Array =>
      writeBeef({ version: 1, transactions: ancestryWithin(all, txid) })
    return new Map(txids.map(txid => [bytesKey(txid), [...beefOf(txid)]]))
  }
  // The ancestry of all is too large, or one is incomplete: one read for each transaction.
  const single = await Promise.all(
    txids.map(async (txid): Promise<[string, number[]][]> => {
      const beef = await catchCodes(['ERR_TX_UNKNOWN'], () => transactions.beef(txid))
      return beef ? [[bytesKey(txid), [...beef]]] : []
    })
  )
  return new Map(single.flat())
}

/** The ancestry of one transaction within that of several, the transaction itself last. */
const ancestryWithin = (all: ReadonlyMap<string, BeefTransaction>, txid: Txid): BeefTransaction[] => {
  const ancestry = new Map<string, BeefTransaction>()
  const pending = [bytesKey(txid)]
  for (const key of pending) {
    if (ancestry.has(key)) continue
    const each = all.get(key)!
    ancestry.set(key, each)
    if (!each.bump)
      pending.push(...(each.transaction as Transaction).inputs.map(input => bytesKey(input.txid)))
  }
  return [...ancestry.values()].reverse()
}

const catchCodes = async <T>(codes: readonly ErrorCode[], read: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await read()
  } catch (error) {
    if (codes.some(code => hasCode(error, code))) return undefined
    throw error
  }
}

const distinct = (txids: readonly Txid[]): Txid[] => [
  ...new Map(txids.map(txid => [bytesKey(txid), txid])).values()
]
