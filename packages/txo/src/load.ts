/**
 * MutableOutput outputs, many at once: the hashes of all of them together, each transaction and each proof once, however
 * many outputs are of it.
 */

import type { Bump, Output, Transaction, TransactionStore } from '@quoin/chain'
import {
  type Awaitable,
  andThen,
  type Outpoint,
  startsWith,
  type Topic,
  type Txid,
  together,
  voutOf
} from '@quoin/primitives'
import type { StoreReads } from '@quoin/store'
import { outputs, satoshisFields } from './keys.ts'
import { dataIn, eventsIn, topicsIn } from './output-state.ts'
import { type BlockPosition, scoreOf } from './position.ts'
import { recordPlace } from './record.ts'
import { mapKey } from './working-set.ts'

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
const TXID_LENGTH = 32

/** Outputs whose answers are worked out while the next ones are on their way. */
const SLICE = 256

/** One answer for each outpoint, in the order asked; an unknown one is `null`. */
export const loadOutputs = async (
  reads: StoreReads,
  transactions: TransactionStore,
  outpoints: readonly Outpoint[],
  options: LoadOptions
): Promise<(LoadedOutput | null)[]> => {
  if (outpoints.length === 0) return []
  const { txids, numbers } = transactionsOf(outpoints)
  const shared = loadTransactions(reads, transactions, txids, options)
  const slices: Awaitable<(LoadedOutput | null)[]>[] = []
  for (let from = 0; from < outpoints.length; from += SLICE) {
    const slice = outpoints.slice(from, from + SLICE)
    slices.push(loadSlice(reads, slice, { shared, txids, numbers, from, options }))
  }
  return slices.length === 1 ? slices[0]! : (await Promise.all(slices)).flat()
}

/** What outputs of one transaction have in common. */
interface OfTransaction {
  /** Undefined of one that nothing is known of. */
  readonly score: number | undefined
  readonly block: BlockPosition | undefined
  readonly transaction: Transaction | undefined
  readonly proof: Bump | undefined
}

const loadTransactions = (
  reads: StoreReads,
  transactions: TransactionStore,
  txids: readonly Txid[],
  { includeOutput, includeRawtx, includeMerkleProof }: LoadOptions
): Awaitable<OfTransaction[]> => {
  const loading = together([
    reads.atHand.hmget(SPENDS, txids),
    includeOutput || includeRawtx ? transactions.getMany(txids) : [],
    includeMerkleProof ? transactions.proofs(txids) : []
  ])
  return andThen(loading, ([records, stored, proofs]) =>
    records.map((record, i) => {
      const place = record && recordPlace(record)
      return {
        score: place && scoreOf(place),
        block: place?.position,
        transaction: stored[i],
        proof: proofs[i]
      }
    })
  )
}

interface Slice {
  readonly shared: Awaitable<readonly OfTransaction[]>
  readonly txids: readonly Txid[]
  /** For every outpoint, the slice begins at `from`, the number of its transaction. */
  readonly numbers: readonly number[]
  readonly from: number
  readonly options: LoadOptions
}

const loadSlice = (
  reads: StoreReads,
  outpoints: readonly Outpoint[],
  { shared, txids, numbers, from, options }: Slice
): Awaitable<(LoadedOutput | null)[]> => {
  const keys = outpoints.map((outpoint, i) =>
    outputHashes.encode(txids[numbers[from + i]!]!, voutOf(outpoint))
  )
  const loading = together([
    shared,
    reads.atHand.mhgetall(keys),
    options.includeSatoshis ? reads.atHand.hmget(SATOSHIS, outpoints) : [],
    options.includeSpend ? reads.atHand.hmget(SPENDS, outpoints) : []
  ])
  return andThen(loading, ([of, hashes, amounts, spenders]) =>
    outpoints.map((outpoint, i) => {
      const { score, block, transaction, proof } = of[numbers[from + i]!]!
      const fields = hashes[i]!
      if (score === undefined || fields.length === 0) return null
      const loaded: MutableOutput = { outpoint, score }
      const value = amounts[i]
      if (value) loaded.satoshis = amount.value.codec.decode(value)
      if (options.includeSpend) loaded.spend = (spenders[i] as Txid | undefined) ?? null
      if (options.includeBlock) loaded.block = block ?? null
      if (options.includeEvents) loaded.events = eventsIn(fields)
      if (options.includeTopics) loaded.topics = topicsIn(fields)
      if (options.includeTags) loaded.data = dataIn(fields, options.includeTags)
      if (options.includeOutput) loaded.output = transaction?.outputs[voutOf(outpoint)] ?? null
      if (options.includeRawtx) loaded.rawtx = transaction?.raw ?? null
      if (options.includeMerkleProof) loaded.merkleProof = proof ?? null
      return loaded
    })
  )
}

type MutableOutput = { -readonly [Name in keyof LoadedOutput]: LoadedOutput[Name] }

/** The transactions of outpoints, each once, and for every outpoint the number of its own. */
const transactionsOf = (outpoints: readonly Outpoint[]): { txids: Txid[]; numbers: number[] } => {
  const known = new Map<string, number>()
  const txids: Txid[] = []
  let last = -1
  const numbers = outpoints.map(outpoint => {
    // Outputs of one transaction mostly come one after the other.
    if (last >= 0 && startsWith(outpoint, txids[last]!)) return last
    const txid = outpoint.subarray(0, TXID_LENGTH) as Txid
    const name = mapKey(txid)
    last = known.get(name) ?? txids.push(txid) - 1
    known.set(name, last)
    return last
  })
  return { txids, numbers }
}
