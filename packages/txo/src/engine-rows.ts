/**
 * Outputs as the engine of `@bsv/overlay` reads them: one row for each topic that admitted an output, with script,
 * spend, consumers and BEEF. Any number of rows takes as many rounds of reads as one does.
 */
import { type BeefTransaction, type Output, type TransactionStore, writeBeef } from '@quoin/chain'
import {
  type ErrorCode,
  formatTxid,
  makeOutpoint,
  type Outpoint,
  QuoinError,
  type Topic,
  type Txid,
  txidOf,
  voutOf
} from '@quoin/primitives'
import { outputFields, outputs as outputKeys, spendFields } from './keys.ts'
import { fieldName, type OutputState, outputState } from './output-state.ts'
import type { OutputStore } from './output-store.ts'
import { scoreOf } from './position.ts'
import type { TransactionRecord } from './record.ts'

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
  /** Outputs of the topic that the transaction which spends it made. */
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
const { inputs, spent } = outputFields.collections
const { transaction: recordField } = spendFields.collections

/** One answer for each outpoint; undefined if nothing is known of it. */
export const storedOutputs = async (
  { store }: OutputStore,
  outpoints: readonly Outpoint[]
): Promise<(StoredOutput | undefined)[]> => {
  const hashes = await store.mhgetall(
    outpoints.map(outpoint => outputHashes.encode(txidOf(outpoint), voutOf(outpoint)))
  )
  return outpoints.map((outpoint, i) => {
    const state = outputState(hashes[i]!, undefined)
    return state.isSaved ? { outpoint, state } : undefined
  })
}

/** The outputs of a transaction, in order. */
export const storedOutputsOf = async ({ store }: OutputStore, txid: Txid): Promise<StoredOutput[]> =>
  (await store.hrange(outputHashes.scan(txid))).map(({ key, fields }) => ({
    outpoint: makeOutpoint(...outputHashes.decode(key)),
    state: outputState(fields, undefined)
  }))

export const isAdmitted = ({ state }: StoredOutput, topic: string): boolean =>
  state.topics.includes(topic as Topic)

/** Whether a topic holds it to be spent, by whatever. */
export const isMarked = ({ state }: StoredOutput, topic: string): boolean =>
  state.fields.has(fieldName(spent.encode(topic as Topic)))

/** The rows of these outputs, in order: of all topics, or of one. */
export const engineRows = async (
  outputs: OutputStore,
  found: readonly StoredOutput[],
  { topic, includeBEEF }: { readonly topic?: string | undefined; readonly includeBEEF: boolean }
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
    includeBEEF ? beefsOf(outputs.transactions, txids) : new Map<string, number[]>()
  ])
  const consumers = await admittedOf(
    outputs,
    spenders.filter(spender => spender !== null)
  )
  const places = new Map(txids.map((txid, place) => [formatTxid(txid), place]))
  return found.flatMap((output, i) => {
    const name = formatTxid(txidOf(output.outpoint))
    const place = places.get(name)!
    const [record, transaction] = [records[place], transactions[place]]
    const spender = spenders[i]
    const content = transaction?.outputs[voutOf(output.outpoint)]
    // Without its transaction an output has no script to give. Others may have saved it so, or just removed it.
    if (!record || !content) return []
    const topics = topic === undefined ? output.state.topics : [topic as Topic]
    return topics
      .filter(each => isAdmitted(output, each))
      .map(each =>
        rowOf(output, each, {
          name,
          record,
          content,
          isSpent: !!spender || isMarked(output, each),
          consumers: (spender && consumers.get(formatTxid(spender))?.get(each)) ?? [],
          beef: beefs.get(name)
        })
      )
  })
}

interface Beside {
  readonly name: string
  readonly record: TransactionRecord
  readonly content: Output
  readonly isSpent: boolean
  readonly consumers: readonly Outpoint[]
  readonly beef: number[] | undefined
}

const rowOf = (
  { outpoint, state }: StoredOutput,
  topic: Topic,
  { name, record, content, isSpent, consumers, beef }: Beside
): EngineOutput => {
  const consumed = state.fields.get(fieldName(inputs.encode(topic)))!
  return {
    txid: name,
    outputIndex: voutOf(outpoint),
    outputScript: [...content.script],
    satoshis: content.satoshis,
    topic,
    spent: isSpent,
    outputsConsumed: inputs.value.codec.decode(consumed).map(engineOutpoint),
    consumedBy: consumers.map(engineOutpoint),
    score: scoreOf(record),
    ...(record.position && { blockHeight: record.position.height }),
    ...(beef && { beef })
  }
}

const engineOutpoint = (outpoint: Outpoint): EngineOutpoint => ({
  txid: formatTxid(txidOf(outpoint)),
  outputIndex: voutOf(outpoint)
})

/** For each transaction, by its name, the outputs that each topic admitted. */
const admittedOf = async (
  outputs: OutputStore,
  txids: readonly Txid[]
): Promise<Map<string, Map<string, Outpoint[]>>> =>
  new Map(
    await Promise.all(
      distinct(txids).map(async txid => {
        const topics = new Map<string, Outpoint[]>()
        for (const { outpoint, state } of await storedOutputsOf(outputs, txid)) {
          for (const topic of state.topics) topics.set(topic, [...(topics.get(topic) ?? []), outpoint])
        }
        return [formatTxid(txid), topics] as const
      })
    )
  )

/** BEEF by the names of transactions; what cannot be put together for lack of an ancestor is left out. */
const beefsOf = async (
  transactions: TransactionStore,
  txids: readonly Txid[]
): Promise<Map<string, number[]>> => {
  const ancestry = await unless(['ERR_TX_UNKNOWN', 'ERR_BEEF_LIMIT'], () => transactions.ancestry(txids))
  if (ancestry) {
    const all = new Map(ancestry.map(each => [formatTxid(each.txid), each]))
    const beefOf = (txid: Txid): Uint8Array => writeBeef({ version: 1, transactions: pick(all, txid) })
    return new Map(txids.map(txid => [formatTxid(txid), [...beefOf(txid)]]))
  }
  // All together are too many, or one lacks something: each for itself.
  const apart = await Promise.all(
    txids.map(async (txid): Promise<[string, number[]][]> => {
      const beef = await unless(['ERR_TX_UNKNOWN'], () => transactions.beef(txid))
      return beef ? [[formatTxid(txid), [...beef]]] : []
    })
  )
  return new Map(apart.flat())
}

/** What one of them needs of what all of them need, itself last. */
const pick = (all: ReadonlyMap<string, BeefTransaction>, txid: Txid): BeefTransaction[] => {
  const needed = new Map<string, BeefTransaction>()
  const wanted = [formatTxid(txid)]
  for (const name of wanted) {
    if (needed.has(name)) continue
    const each = all.get(name)!
    needed.set(name, each)
    if (!each.bump) wanted.push(...each.transaction!.inputs.map(input => formatTxid(input.txid)))
  }
  return [...needed.values()].reverse()
}

const unless = async <T>(codes: readonly ErrorCode[], read: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await read()
  } catch (error) {
    if (error instanceof QuoinError && codes.includes(error.code)) return undefined
    throw error
  }
}

const distinct = (txids: readonly Txid[]): Txid[] => [
  ...new Map(txids.map(txid => [formatTxid(txid), txid])).values()
]
