/** Reads of a book: its totals, its accounts, and accounts ranked by amount. */
import type { Outpoint } from '@quoin/primitives'
import type { StoreReads } from '@quoin/store'
import { accountAt } from './amount-ledger.ts'
import { type Amounts, totalOf } from './amounts.ts'
import { outputs, spendFields } from './keys.ts'

const { spends, ranks } = outputs.collections
const { totals, account: accounts } = spendFields.collections

export interface RankedAccount {
  readonly account: Uint8Array
  readonly amounts: Amounts
  readonly total: bigint
}

export interface RankedPage {
  readonly accounts: readonly RankedAccount[]
  readonly cursor: string | undefined
}

/** The amounts of one account in several books, in their order. */
export const accountIn = async (
  reads: StoreReads,
  account: Uint8Array,
  books: readonly Outpoint[]
): Promise<Amounts[]> => {
  const keys = books.map((book): [Outpoint, Uint8Array] => [book, account])
  const found = await reads.use(spends).at().getMany(accounts, keys)
  return found.map(each => each ?? {})
}

export class Book {
  readonly #reads: StoreReads
  readonly #book: Outpoint

  constructor(reads: StoreReads, book: Outpoint) {
    this.#reads = reads
    this.#book = book
  }

  async totals(): Promise<Amounts> {
    return (await this.#reads.use(spends).at().get(totals, this.#book)) ?? {}
  }

  /** The amounts of accounts, in their order. */
  async accounts(of: readonly Uint8Array[]): Promise<Amounts[]> {
    const keys = of.map((account): [Outpoint, Uint8Array] => [this.#book, account])
    const found = await this.#reads.use(spends).at().getMany(accounts, keys)
    return found.map(each => each ?? {})
  }

  /** The number of accounts with an amount. */
  count(): Promise<number> {
    return this.#reads.use(ranks).at(this.#book).count()
  }

  /** Accounts by descending amount, equal ones by ascending hash, in pages. */
  async ranked(page: { readonly limit: number; readonly cursor?: string | undefined }): Promise<RankedPage> {
    const { rows, cursor } = await this.#reads.search({
      keys: [ranks.encode(this.#book)],
      limit: page.limit,
      ...(page.cursor !== undefined && { cursor: page.cursor })
    })
    const places = rows.map(({ member }) => accountAt(member))
    const found = await this.accounts(places.map(({ account }) => account))
    const ranked: RankedAccount[] = []
    for (const [i, { account, amount: total }] of places.entries()) {
      const amounts = found[i]!
      // An account that changed after its rank was read has another rank.
      if (totalOf(amounts) === total) ranked.push({ account, amounts, total })
    }
    return { accounts: ranked, cursor }
  }
}
