/**
 * Amount ledgers: sums of the amounts that outputs carry beside their satoshis. A ledger is a function of the state of
 * an output, and a commit posts the difference between the states before and after it: admissions, spends, rollbacks. A
 * book (a token) has totals, and accounts ranked by amount.
 *
 * Amounts exceed the precision of scores, so an account is read, changed and written on the condition that it is
 * unchanged. Commits in flight pass the account's next state to the commits after them, since the store applies batches
 * in the order in which they were sent: concurrent commits to one account do not retry. Accounts are fields of
 * `h:spnd`, the hash of all conditions of a commit.
 */
import { bytesKey, type Outpoint, QuoinError, type Topic } from '@quoin/primitives'
import type { Batch, StoreReads } from '@quoin/store'
import {
  type Amount,
  type Amounts,
  adding,
  amounts,
  isNothing,
  NOTHING,
  negative,
  plus,
  totalOf
} from './amounts.ts'
import { outputs, spendFields } from './keys.ts'

/** The state of an output that a ledger depends on. */
export interface LedgerOutput {
  readonly outpoint: Outpoint
  /** Topics that admitted it. */
  readonly topics: readonly Topic[]
  readonly events: readonly string[]
  readonly isSpent: boolean
  /** The data under a tag. */
  data(tag: string): unknown
}

export interface LedgerPosting extends Amount {
  /** A token, by the outpoint of its deployment. */
  readonly book: Outpoint
  /** The hash of the holder's key; undefined for an amount of the totals of the book. */
  readonly account: Uint8Array | undefined
  /** The kind of amount. */
  readonly name: string
}

/** The amounts of an output: a pure function of its state. */
export type AmountLedger = (output: LedgerOutput) => readonly LedgerPosting[]

/** An output before a commit and after it; undefined while it is not indexed. */
export interface LedgerChange {
  readonly before: LedgerOutput | undefined
  readonly after: LedgerOutput | undefined
}

/** The postings of a batch. `settle` is called with the result of its commit. */
export interface PostingReceipt {
  settle(isCommitted: boolean): void
}

const { spends, ranks } = outputs.collections
const { totals, account: accounts } = spendFields.collections
const SPENDS = spends.encode()
const MOST = 2n ** 128n - 1n

/** The state of an account after the commits in flight. */
interface AccountState {
  bytes: Uint8Array | undefined
  /** Commits in flight. */
  users: number
}

interface Sum {
  readonly book: Outpoint
  readonly account: Uint8Array | undefined
  readonly field: Uint8Array
  readonly changes: Map<string, Amount>
}

export class LedgerWriter {
  readonly #reads: StoreReads
  readonly #ledger: AmountLedger
  /** By the map key of the field. */
  readonly #pending = new Map<string, AccountState>()

  constructor(reads: StoreReads, ledger: AmountLedger) {
    this.#reads = reads
    this.#ledger = ledger
  }

  /** Posts changes of outputs; undefined if no amount changes. A result without a promise is to be committed at once. */
  postIn(
    batch: Batch,
    changes: Iterable<LedgerChange>
  ): PostingReceipt | undefined | Promise<PostingReceipt> {
    const sums = this.#sums(changes)
    if (sums.size === 0) return undefined
    const unread = [...sums].filter(([name]) => !this.#pending.has(name))
    if (unread.length === 0) return this.#write(batch, sums)
    const reading = this.#reads.hmget(
      SPENDS,
      unread.map(([, { field }]) => field)
    )
    return reading.then(values => {
      for (const [i, [name]] of unread.entries()) {
        // The state of a commit that began during the read is newer.
        if (!this.#pending.has(name)) this.#pending.set(name, { bytes: values[i], users: 0 })
      }
      return this.#write(batch, sums)
    })
  }

  #sums(changes: Iterable<LedgerChange>): Map<string, Sum> {
    const sums = new Map<string, Sum>()
    const add = (output: LedgerOutput | undefined, signed: (amount: Amount) => Amount): void => {
      for (const { book, account, name, ...amount } of output ? this.#ledger(output) : []) {
        const field = account ? accounts.encode(book, account) : totals.encode(book)
        const key = bytesKey(field)
        const sum = sums.get(key) ?? { book, account, field, changes: new Map() }
        sum.changes.set(name, plus(sum.changes.get(name) ?? NOTHING, signed(amount)))
        sums.set(key, sum)
      }
    }
    for (const { before, after } of changes) {
      add(before, negative)
      add(after, amount => amount)
    }
    for (const [key, { changes: of }] of sums) {
      for (const [name, change] of of) if (isNothing(change)) of.delete(name)
      if (of.size === 0) sums.delete(key)
    }
    return sums
  }

  #write(batch: Batch, sums: ReadonlyMap<string, Sum>): PostingReceipt {
    const written: [name: string, pending: AccountState, bytes: Uint8Array | undefined][] = []
    for (const [name, { book, account, field, changes }] of sums) {
      const pending = this.#pending.get(name)!
      const before = pending.bytes ? amounts.codec.decode(pending.bytes) : {}
      const after = adding(before, changes)
      if (!after) {
        for (const each of sums.keys()) this.#drop(each, this.#pending.get(each)!)
        throw overdrawn()
      }
      batch.ifField(SPENDS, field, pending.bytes)
      const bytes = Object.keys(after).length > 0 ? amounts.codec.encode(after) : undefined
      if (bytes) batch.hset(SPENDS, field, bytes)
      else batch.hdel(SPENDS, field)
      if (account) rankIn(batch, book, account, before, after)
      written.push([name, pending, bytes])
    }
    for (const [, pending, bytes] of written) {
      pending.bytes = bytes
      pending.users++
    }
    return {
      settle: isCommitted => {
        for (const [name, pending] of written) {
          pending.users--
          if (!isCommitted || pending.users === 0) this.#drop(name, pending)
        }
      }
    }
  }

  #drop(name: string, pending: AccountState): void {
    if (this.#pending.get(name) === pending) this.#pending.delete(name)
  }
}

const rankIn = (batch: Batch, book: Outpoint, account: Uint8Array, before: Amounts, after: Amounts): void => {
  const [was, is] = [totalOf(before), totalOf(after)]
  if (was === is) return
  const key = ranks.encode(book)
  if (was > 0n) batch.zrem(key, placeOf(was, account))
  if (is > 0n) batch.zadd(key, { member: placeOf(is, account), score: 0 })
}

/** Descending by amount, then ascending by hash. */
const placeOf = (amount: bigint, account: Uint8Array): Uint8Array => {
  const place = new Uint8Array(16 + account.length)
  const view = new DataView(place.buffer)
  view.setBigUint64(0, (MOST - amount) >> 64n)
  view.setBigUint64(8, (MOST - amount) & 0xffffffffffffffffn)
  place.set(account, 16)
  return place
}

export const accountAt = (place: Uint8Array): { readonly account: Uint8Array; readonly amount: bigint } => {
  const [high, low] = [wordAt(place, 8), wordAt(place, 12)]
  const isSmall = wordAt(place, 0) === 0 && wordAt(place, 4) === 0 && high < 2 ** 21
  return {
    account: place.slice(16),
    // Most amounts fit a number, which is faster than sums of bigints.
    amount: isSmall
      ? BigInt(high * 2 ** 32 + low)
      : [0, 4, 8, 12].reduce((sum, at) => (sum << 32n) | BigInt(wordAt(place, at)), 0n)
  }
}

/** Four bytes of the complement of an amount. */
const wordAt = (place: Uint8Array, at: number): number =>
  ~((place[at]! << 24) | (place[at + 1]! << 16) | (place[at + 2]! << 8) | place[at + 3]!) >>> 0

/** A change of the account after it was read: the commit is retried. */
const overdrawn = (): QuoinError =>
  new QuoinError('ERR_STORE_PRECONDITION', 'an account has less than the amount taken from it')
