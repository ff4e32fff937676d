/** Transactions of topics with an incomplete ancestry, read in pages. */

import type { Finding } from '@quoin/chain'
import { checkedTransaction } from '@quoin/chain'
import { bytesKey, formatTxid, type Txid } from '@quoin/primitives'
import type { StoreReads } from '@quoin/store'
import { fieldPages } from './compare.ts'
import { outputs } from './keys.ts'
import { transactionRecord } from './record.ts'

const SPENDS = outputs.collections.spends.encode()
const TXID_LENGTH = 32
/** Transactions with a complete ancestry that are memoized. */
const MEMOIZED = 100_000

export async function* incompleteBeefs(reads: StoreReads): AsyncGenerator<Finding, void, undefined> {
  const ancestry = new Ancestry(reads)
  for await (const fields of fieldPages(reads, SPENDS)) {
    for (const { field, value } of fields) {
      if (field.length !== TXID_LENGTH || !isInTopic(value)) continue
      const missing = await ancestry.missing(field as Txid)
      if (missing) yield incomplete(field as Txid, missing)
    }
  }
}

const isInTopic = (value: Uint8Array): boolean => {
  try {
    return transactionRecord.codec.decode(value).topics.length > 0
  } catch {
    // A record that does not decode is reported as a difference of the index.
    return false
  }
}

const incomplete = (txid: Txid, missing: Txid): Finding => ({
  kind: 'beef-incomplete',
  subject: formatTxid(txid),
  found: `no readable transaction ${formatTxid(missing)}`,
  expected: 'every ancestor back to a proof',
  advice: `submit a BEEF that has ${formatTxid(missing)} (quoin submit), or start the node: it asks for missing proofs`
})

/** Walks from transactions through their inputs, back to proofs. */
class Ancestry {
  readonly #reads: StoreReads
  readonly #complete = new Set<string>()

  constructor(reads: StoreReads) {
    this.#reads = reads
  }

  /** The first transaction of the ancestry, itself included, that is not stored. */
  async missing(txid: Txid): Promise<Txid | undefined> {
    const seen = new Set<string>()
    const waiting = [txid]
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const name = bytesKey(next)
      if (seen.has(name) || this.#complete.has(name)) continue
      seen.add(name)
      const { transaction, proof } = await checkedTransaction(this.#reads, next)
      if (!transaction) return next
      if (!proof && !transaction.isCoinbase) waiting.push(...transaction.spentTxids())
    }
    if (this.#complete.size + seen.size > MEMOIZED) this.#complete.clear()
    for (const name of seen) this.#complete.add(name)
    return undefined
  }
}
