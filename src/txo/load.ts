/**
 * Loading outputs, many at once: the hashes of all of them together, each transaction and each proof once, however
 * many outputs are of it.
 */
import type { Bump, Output, TransactionStore } from '../chain/index.ts'
import { type Outpoint, type Topic, type Txid, voutOf } from '../keyspace/index.ts'
import type { StoreReads } from '../store/index.ts'
import { outputs, satoshisFields } from './keys.ts'
import { dataOf, eventsOf, outputState, topicsOf } from './output-state.ts'
import { type BlockPosition, scoreOf } from './position.ts'
import { transactionRecord } from './record.ts'
import { nameOf } from './working-set.ts'

/** What to load beside the outpoint and its score. */
export interface LoadOptions {
  readonly includeSatoshis?: boolean
  readonly includeSpend?: boolean
  readonly includeEvents?: boolean
  readonly includeTopics?: boolean
  readonly includeBlock?: boolean
  /** Data under these tags, or all. */
  readonly includeTags?: readonly string[] | 'all'
  /** The output as it is in the transaction: script and satoshis. */
  readonly includeOutput?: boolean
  readonly includeRawtx?: boolean
  readonly includeMerkleProof?: boolean
}

export interface LoadedOutput {
  readonly outpoint: Outpoint
  readonly score: number
  readonly satoshis?: bigint
  /** `null`: not spent. */
  readonly spend?: Txid | null
  readonly events?: readonly string[]
  readonly topics?: readonly Topic[]
  /** `null`: not mined. */
  readonly block?: BlockPosition | null
  readonly data?: Readonly<Record<string, unknown>>
  /** Like the two below, `null` when the transaction, or its proof, is not stored. */
  readonly output?: Output | null
  readonly rawtx?: Uint8Array | null
  readonly merkleProof?: Bump | null
}

const { output: outputHashes, satoshis, spends } = outputs.collections
const SATOSHIS = satoshis.encode()
const SPENDS = spends.encode()
const { satoshis: amount } = satoshisFields.collections

/** One answer for each outpoint, in the order asked; an unknown one is `null`. */
export const loadOutputs = async (
  reads: StoreReads,
  transactions: TransactionStore,
  outpoints: readonly Outpoint[],
  options: LoadOptions
): Promise<(LoadedOutput | null)[]> => {
  if (outpoints.length === 0) return []
  const names = outpoints.map(outpoint => nameOf(outpoint.subarray(0, TXID_LENGTH)))
  const txids = new Map(names.map((name, i) => [name, outpoints[i]!.subarray(0, TXID_LENGTH) as Txid]))
  const [hashes, amounts, guarded, raws, proofs] = await Promise.all([
    Promise.all(outpoints.map(outpoint => reads.hgetall(outputKey(outpoint)))),
    options.includeSatoshis ? reads.hmget(SATOSHIS, outpoints) : [],
    reads.hmget(SPENDS, [...txids.values(), ...outpoints]),
    options.includeOutput || options.includeRawtx ? byName(txids, txid => transactions.get(txid)) : undefined,
    options.includeMerkleProof ? byName(txids, txid => transactions.proof(txid)) : undefined
  ])
  const records = new Map(
    [...txids.keys()].map((name, i) => [name, guarded[i] && transactionRecord.codec.decode(guarded[i])])
  )
  return outpoints.map((outpoint, i) => {
    const name = names[i]!
    const record = records.get(name)
    const fields = hashes[i]!
    if (!record || fields.length === 0) return null
    const loaded: Loading = { outpoint, score: scoreOf(record) }
    const value = amounts[i]
    if (value) loaded.satoshis = amount.value.codec.decode(value)
    if (options.includeSpend) loaded.spend = (guarded[txids.size + i] as Txid | undefined) ?? null
    if (options.includeBlock) loaded.block = record.position ?? null
    if (options.includeEvents || options.includeTopics || options.includeTags) {
      const state = outputState(fields, undefined)
      if (options.includeEvents) loaded.events = eventsOf(state)
      if (options.includeTopics) loaded.topics = topicsOf(state)
      if (options.includeTags) loaded.data = dataOf(state, options.includeTags)
    }
    const transaction = raws?.get(name)
    if (options.includeOutput) loaded.output = transaction?.outputs[voutOf(outpoint)] ?? null
    if (options.includeRawtx) loaded.rawtx = transaction?.raw ?? null
    if (options.includeMerkleProof) loaded.merkleProof = proofs?.get(name) ?? null
    return loaded
  })
}

type Loading = { -readonly [Name in keyof LoadedOutput]: LoadedOutput[Name] }
const TXID_LENGTH = 32

const outputKey = (outpoint: Outpoint): Uint8Array =>
  outputHashes.encode(outpoint.subarray(0, TXID_LENGTH) as Txid, voutOf(outpoint))

const byName = async <T>(
  txids: ReadonlyMap<string, Txid>,
  load: (txid: Txid) => Promise<T>
): Promise<Map<string, T>> =>
  new Map(await Promise.all([...txids].map(async ([name, txid]) => [name, await load(txid)] as const)))
