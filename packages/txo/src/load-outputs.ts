/** Loads many outputs at once: their hashes in slices, each transaction and each proof once. */

import type { Bump, Output, Transaction, TransactionStore } from '@quoin/chain'
import { bytesKey, type Outpoint, startsWith, type Topic, type Txid, txidOf, voutOf } from '@quoin/primitives'
import { askAll, type ReadPlan, type StoreReads } from '@quoin/store'
import { outputs } from './keys.ts'
import { dataIn, eventsIn, satoshisIn, topicsIn } from './output-state.ts'
import { type BlockPosition, scoreOf } from './position.ts'
import { recordPlace } from './record.ts'

/** Properties to load with the outpoint and its score. */
export interface LoadOptions {
  readonly includeSatoshis?: boolean
  readonly includeSpend?: boolean
  readonly includeEvents?: boolean
  readonly includeTopics?: boolean
  readonly includeBlock?: boolean
  /** Data under these tags, or all. */
  readonly includeTags?: readonly string[] | 'all'
  /** The output of the transaction: script and satoshis. */
  readonly includeOutput?: boolean
  readonly includeRawtx?: boolean
  readonly includeMerkleProof?: boolean
}

export interface LoadedOutput {
  readonly outpoint: Outpoint
  readonly score: number
  readonly satoshis?: bigint
  /** `null` if unspent. */
  readonly spend?: Txid | null
  readonly events?: readonly string[]
  readonly topics?: readonly Topic[]
  /** `null` if unmined. */
  readonly block?: BlockPosition | null
  readonly data?: Readonly<Record<string, unknown>>
  /** `null`, like the two below, if the transaction or its proof is not stored. */
  readonly output?: Output | null
  readonly rawtx?: Uint8Array | null
  readonly merkleProof?: Bump | null
}

const { output: outputHashes, spends } = outputs.collections
const SPENDS = spends.encode()
const TXID_LENGTH = 32

/** The outputs of a plan of reads, without their transactions and proofs. */
export function* outputsPlan(
  outpoints: readonly Outpoint[],
  options: Omit<LoadOptions, 'includeOutput' | 'includeRawtx' | 'includeMerkleProof'>
): ReadPlan<(LoadedOutput | null)[]> {
  const loaded: (LoadedOutput | null)[] = []
  for (let from = 0; from < outpoints.length; from += SLICE) {
    loaded.push(...(yield* loadSlice(outpoints.slice(from, from + SLICE), options)))
  }
  return loaded
}

/** Outputs of one read: they are decoded during the reads of the next ones. */
const SLICE = 256

/** The outputs in the order of their outpoints; `null` for an unknown one. */
export const loadOutputs = async (
  reads: StoreReads,
  transactions: TransactionStore,
  outpoints: readonly Outpoint[],
  options: LoadOptions
): Promise<(LoadedOutput | null)[]> => {
  const { includeOutput, includeRawtx, includeMerkleProof } = options
  const needsTransactions = includeOutput || includeRawtx || includeMerkleProof
  const stored = needsTransactions
    ? loadStored(transactions, transactionsOf(outpoints).txids, options)
    : undefined
  const slices: Promise<(LoadedOutput | null)[]>[] = []
  for (let from = 0; from < outpoints.length; from += SLICE) {
    const slice = outpoints.slice(from, from + SLICE)
    const loading = reads.run(loadSlice(slice, options))
    slices.push(stored ? addStored(loading, stored, options) : loading)
  }
  return slices.length === 1 ? slices[0]! : (await Promise.all(slices)).flat()
}

/** Stored transactions and proofs by the map keys of their txids. */
type StoredTransactions = ReadonlyMap<
  string,
  { readonly transaction: Transaction | undefined; readonly proof: Bump | undefined }
>

const loadStored = async (
  transactions: TransactionStore,
  txids: readonly Txid[],
  { includeOutput, includeRawtx, includeMerkleProof }: LoadOptions
): Promise<StoredTransactions> => {
  const [stored, proofs] = await Promise.all([
    includeOutput || includeRawtx ? transactions.getMany(txids) : [],
    includeMerkleProof ? transactions.proofs(txids) : []
  ])
  return new Map(txids.map((txid, i) => [bytesKey(txid), { transaction: stored[i], proof: proofs[i] }]))
}

const addStored = async (
  loading: Promise<(MutableOutput | null)[]>,
  loadingStored: Promise<StoredTransactions>,
  { includeOutput, includeRawtx, includeMerkleProof }: LoadOptions
): Promise<(LoadedOutput | null)[]> => {
  const [loaded, stored] = await Promise.all([loading, loadingStored])
  for (const each of loaded) {
    if (!each) continue
    const { transaction, proof } = stored.get(bytesKey(txidOf(each.outpoint)))!
    if (includeOutput) each.output = transaction?.outputs[voutOf(each.outpoint)] ?? null
    if (includeRawtx) each.rawtx = transaction?.raw ?? null
    if (includeMerkleProof) each.merkleProof = proof ?? null
  }
  return loaded
}

function* loadSlice(
  outpoints: readonly Outpoint[],
  options: LoadOptions
): ReadPlan<(MutableOutput | null)[]> {
  const { txids, numbers } = transactionsOf(outpoints)
  const keys = outpoints.map((outpoint, i) => outputHashes.encode(txids[numbers[i]!]!, voutOf(outpoint)))
  const [records, hashes, spenders] = yield* askAll([
    reads => reads.hmget(SPENDS, txids),
    reads => reads.mhgetall(keys),
    reads => (options.includeSpend ? reads.hmget(SPENDS, outpoints) : [])
  ])
  const places = records.map(record => record && recordPlace(record))
  return outpoints.map((outpoint, i) => {
    const place = places[numbers[i]!]
    const fields = hashes[i]!
    if (!place || fields.length === 0) return null
    const loaded: MutableOutput = { outpoint, score: scoreOf(place) }
    const satoshis = options.includeSatoshis ? satoshisIn(fields) : undefined
    if (satoshis !== undefined) loaded.satoshis = satoshis
    if (options.includeSpend) loaded.spend = (spenders[i] as Txid | undefined) ?? null
    if (options.includeBlock) loaded.block = place.position ?? null
    if (options.includeEvents) loaded.events = eventsIn(fields)
    if (options.includeTopics) loaded.topics = topicsIn(fields)
    if (options.includeTags) loaded.data = dataIn(fields, options.includeTags)
    return loaded
  })
}

type MutableOutput = { -readonly [Name in keyof LoadedOutput]: LoadedOutput[Name] }

/** The distinct transactions of outpoints, and the number of each outpoint's transaction. */
const transactionsOf = (outpoints: readonly Outpoint[]): { txids: Txid[]; numbers: number[] } => {
  const known = new Map<string, number>()
  const txids: Txid[] = []
  let last = -1
  const numbers = outpoints.map(outpoint => {
    // Outputs of one transaction are mostly adjacent.
    if (last >= 0 && startsWith(outpoint, txids[last]!)) return last
    const txid = outpoint.subarray(0, TXID_LENGTH) as Txid
    const name = bytesKey(txid)
    last = known.get(name) ?? txids.push(txid) - 1
    known.set(name, last)
    return last
  })
  return { txids, numbers }
}
