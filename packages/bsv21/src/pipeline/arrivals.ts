/**
 * Transactions on their way in. What a source brings is kept as it came, transaction by transaction, until the index has
 * taken it in; nothing of it is believed before that. To take one in, it is put together with what it rests on, back to
 * what is proved, from what is here and from what the index has.
 */
import { Beef, type BeefTransaction, bytesKey, type Transaction, writeBeef } from '@quoin/chain'
import type { Txid } from '@quoin/keyspace'
import { QuoinError } from '@quoin/primitives'
import type { Batch } from '@quoin/store'
import type { OutputStore } from '@quoin/txo'
import { bsv21 } from '../keys.ts'

const { arrived } = bsv21.collections

/** Transactions that are not proved, on which one may rest. More are refused. */
const MAX_ANCESTORS = 1000

/** Transactions that are remembered as they were read, and the bytes that one of them may hold. */
const MAX_PARSED = 4000
const MAX_PARSED_BYTES = 10_000

/** Transactions that are remembered to have all that they rest on, and for how many milliseconds. */
const MAX_WHOLE = 100_000
const WHOLE_FOR = 60_000

/** What a BEEF is made of, or what is missing for one. */
export type Assembled =
  | {
      readonly subject: BeefTransaction
      readonly ancestors: readonly BeefTransaction[]
      readonly missing: undefined
    }
  | { readonly missing: readonly Txid[] }

/** A transaction of which all is there, or what is missing. */
export type Whole =
  | { readonly subject: BeefTransaction; readonly missing: undefined }
  | { readonly missing: readonly Txid[] }

/** What it is about belongs at the end. */
export const beefOf = ({ subject, ancestors }: Assembled & { missing: undefined }): Beef =>
  Beef.of([...ancestors, subject])

export class Arrivals {
  readonly #outputs: OutputStore
  /** What they were read from, and what was read. */
  readonly #parsed = new Map<string, { bytes: Uint8Array; transaction: BeefTransaction }>()
  /** What was found to have all that it rests on, and what is being looked at for that. */
  readonly #whole = new Map<string, Promise<readonly Txid[]>>()
  #wholeUntil = 0

  constructor(outputs: OutputStore) {
    this.#outputs = outputs
  }

  /** Each transaction of a BEEF with its own proof, except those that are only named. */
  saveIn(batch: Batch, beef: Beef): void {
    for (const { txid, transaction, bump } of beef.transactions) {
      if (!transaction) continue
      const one = { txid, transaction, bump: bump?.trimmedTo(txid) }
      const bytes = writeBeef({ version: 1, transactions: [one] })
      batch.use(arrived).at(txid).set(bytes)
      // What was read is a view of all that came with it.
      if (beef.bytes.length <= MAX_PARSED_BYTES) this.#remember(bytes, one)
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
    const transaction = one?.transaction ?? (await transactions.get(txid))
    return transaction && { txid, transaction, bump: await transactions.proof(txid) }
  }

  /** The stages look at the same bytes one after the other. */
  #read(txid: Txid, bytes: Uint8Array): BeefTransaction {
    const known = this.#parsed.get(bytesKey(txid))
    if (known && Buffer.compare(known.bytes, bytes) === 0) return known.transaction
    const transaction = Beef.parse(bytes).transactions[0]!
    if (bytes.length <= MAX_PARSED_BYTES) this.#remember(bytes, transaction)
    return transaction
  }

  #remember(bytes: Uint8Array, transaction: BeefTransaction): void {
    if (this.#parsed.size >= MAX_PARSED) this.#parsed.clear()
    this.#parsed.set(bytesKey(transaction.txid), { bytes, transaction })
  }

  /** Which of them a source has brought with a proof. */
  async proved(txids: readonly Txid[]): Promise<Txid[]> {
    const brought = await this.#outputs.store.use(arrived).getMany(txids.map(txid => [txid]))
    return txids.filter((txid, i) => brought[i] && this.#read(txid, brought[i]).bump)
  }

  /** Whether any of them has been brought, and is not in the index yet. */
  async haveAny(txids: readonly Txid[]): Promise<boolean> {
    const brought = await this.#outputs.store.use(arrived).getMany(txids.map(txid => [txid]))
    return brought.some(bytes => bytes !== undefined)
  }

  /** Whether anything has the transaction. */
  async has(txid: Txid): Promise<boolean> {
    return (await this.load(txid)) !== undefined
  }

  /**
   * With all that it rests on and that the index has not verified. Before the index is asked for what it spends, whoever
   * works on that may be waited for.
   */
  async assemble(txid: Txid, finished?: (transaction: Transaction) => Promise<void>): Promise<Assembled> {
    const found = new Map<string, BeefTransaction>()
    const missing: Txid[] = []
    let wanted = [txid]
    while (wanted.length > 0) {
      if (found.size + wanted.length > MAX_ANCESTORS) {
        throw new QuoinError('ERR_BEEF_LIMIT', `it rests on more than ${MAX_ANCESTORS} transactions`)
      }
      const loaded = await Promise.all(wanted.map(each => this.load(each)))
      if (found.size === 0 && loaded[0]?.transaction) await finished?.(loaded[0].transaction)
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
      for (const name of found.keys()) parents.delete(name)
      wanted = await this.#unverified([...parents.values()])
    }
    if (missing.length > 0) {
      // What was whole before may no longer be.
      this.#whole.clear()
      return { missing }
    }
    const [subject, ...ancestors] = [...found.values()] as [BeefTransaction, ...BeefTransaction[]]
    return { subject, ancestors: ancestors.reverse(), missing: undefined }
  }

  /** The transaction alone, if all that it rests on is there; else what is missing. */
  async whole(txid: Txid): Promise<Whole> {
    const subject = await this.load(txid)
    const missing = subject ? await this.#missingOf(subject) : [txid]
    return subject && missing.length === 0 ? { subject, missing: undefined } : { missing }
  }

  /** What is nowhere of what it rests on. Each of a chain is looked at once, whoever asks. */
  async #missingOf(one: BeefTransaction): Promise<readonly Txid[]> {
    if (one.bump) return []
    const name = bytesKey(one.txid)
    // What another process has taken back meanwhile is missed for that long, not for ever.
    if (this.#whole.size >= MAX_WHOLE || performance.now() > this.#wholeUntil) {
      this.#whole.clear()
      this.#wholeUntil = performance.now() + WHOLE_FOR
    }
    const looking = this.#whole.get(name) ?? this.#lookBehind(one)
    this.#whole.set(name, looking)
    let missing: readonly Txid[] | undefined
    try {
      missing = await looking
      return missing
    } finally {
      if (missing?.length !== 0) this.#whole.delete(name)
    }
  }

  async #lookBehind({ transaction }: BeefTransaction): Promise<readonly Txid[]> {
    const parents = new Map(transaction!.inputs.map(({ txid }) => [bytesKey(txid), txid]))
    const missing = new Map<string, Txid>()
    for (const txid of await this.#unverified([...parents.values()])) {
      const parent = await this.load(txid)
      const more = parent ? await this.#missingOf(parent) : [txid]
      for (const each of more) missing.set(bytesKey(each), each)
    }
    return [...missing.values()]
  }

  async #unverified(txids: readonly Txid[]): Promise<Txid[]> {
    if (txids.length === 0) return []
    const areVerified = await this.#outputs.transactions.areVerified(txids)
    return txids.filter((_, i) => !areVerified[i])
  }
}
