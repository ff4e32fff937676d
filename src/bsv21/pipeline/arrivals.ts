/**
 * Transactions on their way in. What a source brings is kept as it came, transaction by transaction, until the index has
 * taken it in; nothing of it is believed before that. To take one in, it is put together with what it rests on, back to
 * what is proved, from what is here and from what the index has.
 */
import { Beef, type BeefTransaction, bytesKey, writeBeef } from '../../chain/index.ts'
import { QuoinError, type Txid } from '../../keyspace/index.ts'
import type { Batch } from '../../store/index.ts'
import type { OutputStore } from '../../txo/index.ts'
import { bsv21 } from '../keys.ts'

const { arrived } = bsv21.collections

/** Transactions that are not proved, on which one may rest. More are refused. */
const MAX_ANCESTORS = 1000

/** Transactions that are remembered as they were read. */
const MAX_PARSED = 2000

/** What a BEEF is made of, or what is missing for one. */
export type Assembled =
  | {
      readonly subject: BeefTransaction
      readonly ancestors: readonly BeefTransaction[]
      readonly missing: undefined
    }
  | { readonly missing: readonly Txid[] }

/** What it is about belongs at the end. */
export const beefOf = ({ subject, ancestors }: Assembled & { missing: undefined }): Uint8Array =>
  writeBeef({ version: 1, transactions: [...ancestors, subject] })

export class Arrivals {
  readonly #outputs: OutputStore
  readonly #parsed = new Map<string, { bytes: Uint8Array; transaction: BeefTransaction }>()

  constructor(outputs: OutputStore) {
    this.#outputs = outputs
  }

  /** Each transaction of a BEEF with its own proof, except those that are only named. */
  saveIn(batch: Batch, { transactions }: Beef): void {
    for (const { txid, transaction, bump } of transactions) {
      if (!transaction) continue
      const beef = writeBeef({
        version: 1,
        transactions: [{ txid, transaction, bump: bump?.trimmedTo(txid) }]
      })
      batch.use(arrived).at(txid).set(beef)
    }
  }

  removeIn(batch: Batch, txid: Txid): void {
    batch.use(arrived).at(txid).delete()
  }

  /** A transaction with a proof, if there is one; what was just brought comes before what is stored. */
  async load(txid: Txid): Promise<BeefTransaction | undefined> {
    const { store, transactions } = this.#outputs
    const brought = await store.use(arrived).get(txid)
    const one = brought && this.#read(txid, brought)
    if (one?.bump) return one
    const [transaction, bump] = await Promise.all([transactions.get(txid), transactions.proof(txid)])
    const known = one?.transaction ?? transaction
    return known && { txid, transaction: known, bump }
  }

  /** The stages look at the same bytes one after the other. */
  #read(txid: Txid, bytes: Uint8Array): BeefTransaction {
    const name = bytesKey(txid)
    const known = this.#parsed.get(name)
    if (known && Buffer.compare(known.bytes, bytes) === 0) return known.transaction
    const transaction = Beef.parse(bytes).transactions[0]!
    if (this.#parsed.size >= MAX_PARSED) this.#parsed.clear()
    this.#parsed.set(name, { bytes, transaction })
    return transaction
  }

  /** Whether a source has brought it with a proof. */
  async hasProof(txid: Txid): Promise<boolean> {
    const brought = await this.#outputs.store.use(arrived).get(txid)
    return brought !== undefined && Beef.parse(brought).bumps.length > 0
  }

  /** Whether anything has the transaction. */
  async has(txid: Txid): Promise<boolean> {
    return (await this.load(txid)) !== undefined
  }

  /** With all that it rests on and that the index has not verified. */
  async assemble(txid: Txid): Promise<Assembled> {
    const found = new Map<string, BeefTransaction>()
    const missing: Txid[] = []
    let wanted = [txid]
    while (wanted.length > 0) {
      if (found.size + wanted.length > MAX_ANCESTORS) {
        throw new QuoinError('ERR_BEEF_LIMIT', `it rests on more than ${MAX_ANCESTORS} transactions`)
      }
      const loaded = await Promise.all(wanted.map(each => this.load(each)))
      const parents = new Map<string, Txid>()
      for (const [i, one] of loaded.entries()) {
        if (!one) {
          missing.push(wanted[i]!)
          continue
        }
        found.set(bytesKey(one.txid), one)
        if (one.bump) continue
        for (const input of one.transaction!.inputs) parents.set(bytesKey(input.txid), input.txid)
      }
      wanted = await this.#unverified(
        [...parents].filter(([name]) => !found.has(name)).map(([, each]) => each)
      )
    }
    if (missing.length > 0) return { missing }
    const [subject, ...ancestors] = [...found.values()] as [BeefTransaction, ...BeefTransaction[]]
    return { subject, ancestors: ancestors.reverse(), missing: undefined }
  }

  async #unverified(txids: readonly Txid[]): Promise<Txid[]> {
    if (txids.length === 0) return []
    const known = await this.#outputs.transactions.known(txids)
    return txids.filter((_, i) => !known[i])
  }
}
