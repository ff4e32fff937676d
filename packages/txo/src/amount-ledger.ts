/**
 * LedgerWriter hold amounts that outputs carry beside their satoshis, added up. What an output comes to in a ledger follows from
 * what is known of it, so a commit posts the difference between before and after, whatever it is: an admission, a spend,
 * a rollback. A book (a token) has totals, and accounts that are ranked by what they have.
 *
 * Amounts are larger than scores can hold exactly, so an account is read, changed and written on the condition that
 * nobody else has changed it. Commits that are on their way pass on to the next what an account will have, so that one
 * that all want to change holds none of them up: the store applies them in the order in which they were sent. Accounts
 * are fields of `h:spnd`, where all conditions of a commit are.
 */
import { bytesKey } from '@quoin/chain'
import { type Outpoint, QuoinError, type Topic } from '@quoin/primitives'
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

/** An output as a ledger sees it. */
export interface LedgerOutput {
  readonly outpoint: Outpoint
  /** That admitted it. */
  readonly topics: readonly Topic[]
  readonly events: readonly string[]
  readonly isSpent: boolean
  /** What is kept under a tag. */
  data(tag: string): unknown
}

export interface LedgerPosting extends Amount {
  /** What the amount is of: a token, by its deployment. */
  readonly book: Outpoint
  /** The hash of the key of the one who has it; without one it is added to the totals of the book. */
  readonly account: Uint8Array | undefined
  /** What kind of amount it is. */
  readonly name: string
}

/** What an output comes to. It may depend on nothing but what it is given. */
export type AmountLedger = (output: LedgerOutput) => readonly LedgerPosting[]

/** An output before a commit and after it; undefined where nothing is known of it. */
export interface LedgerChange {
  readonly before: LedgerOutput | undefined
  readonly after: LedgerOutput | undefined
}

/** What was posted in a batch, to be told what became of that. */
export interface PostingReceipt {
  settle(isCommitted: boolean): void
}

const { spends, ranks } = outputs.collections
const { totals, account: accounts } = spendFields.collections
const SPENDS = spends.encode()
const MOST = 2n ** 128n - 1n

/** What commits on their way make of an account. */
interface AccountState {
  bytes: Uint8Array | undefined
  /** Commits that are on their way. */
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
  /** By the name of the field. */
  readonly #pending = new Map<string, AccountState>()

  constructor(reads: StoreReads, ledger: AmountLedger) {
    this.#reads = reads
    this.#ledger = ledger
  }

  /** Posts what changes make of outputs; undefined when that is nothing. To be sent at once when it is not waited for. */
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
        // Another may have begun meanwhile, and knows more.
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

/** The most first, and of equals the lower hash. */
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
    // Nearly all amounts are numbers that need no sums of bigints.
    amount: isSmall
      ? BigInt(high * 2 ** 32 + low)
      : [0, 4, 8, 12].reduce((sum, at) => (sum << 32n) | BigInt(wordAt(place, at)), 0n)
  }
}

/** Four bytes of what is left to the most. */
const wordAt = (place: Uint8Array, at: number): number =>
  ~((place[at]! << 24) | (place[at + 1]! << 16) | (place[at + 2]! << 8) | place[at + 3]!) >>> 0

/** What is taken from an account was there when it was read; if it is not now, something has changed since. */
const overdrawn = (): QuoinError =>
  new QuoinError('ERR_STORE_PRECONDITION', 'an account has less than what is taken from it')
