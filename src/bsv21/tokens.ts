/** What is known of tokens: what was deployed, what there is of them, and who has it. All of it is kept, nothing is added up here. */
import { formatAddress, parseAddress } from '../chain/index.ts'
import { parseOutpoint, type TokenId } from '../keyspace/index.ts'
import { type Amounts, Book, type Bsv21Data, type OutputStore } from '../txo/index.ts'
import type { HeldLock } from './lock.ts'

/** A token as it was deployed. */
export interface Token {
  readonly id: TokenId
  readonly op: 'deploy+mint' | 'deploy+auth'
  /** What the deployment itself made. */
  readonly amt: bigint
  readonly sym: string | undefined
  readonly dec: number
  readonly icon: string | undefined
  readonly score: number
}

export interface TokenTotals {
  /** All that was ever made. */
  readonly minted: bigint
  /** What there is. */
  readonly supply: bigint
  /** What there is no more. */
  readonly burned: bigint
  /** What is for sale, and in how many outputs. */
  readonly listed: bigint
  readonly listings: number
  /** What is still under a contract that mints. */
  readonly ltm: bigint
  readonly pow20: bigint
  readonly holders: number
}

export interface TokenBalance {
  readonly amount: bigint
  readonly outputs: number
}

export interface Holder {
  readonly address: string
  readonly amount: bigint
  /** By what locks it; what is nothing is not there. */
  readonly locks: Readonly<Partial<Record<HeldLock, TokenBalance>>>
}

export interface HolderPage {
  readonly holders: readonly Holder[]
  readonly cursor: string | undefined
}

export class Tokens {
  readonly #outputs: OutputStore

  constructor(outputs: OutputStore) {
    this.#outputs = outputs
  }

  /** Undefined when no deployment of it is known. */
  async token(id: TokenId): Promise<Token | undefined> {
    return (await this.tokens([id]))[0]
  }

  /** One answer for each, in the order asked. */
  async tokens(ids: readonly TokenId[]): Promise<(Token | undefined)[]> {
    const loaded = await this.#outputs.loadOutputs(
      ids.map(id => parseOutpoint(id)),
      { includeTags: ['bsv21'], includeTopics: true }
    )
    return loaded.map((output, i) => {
      const data = output?.data?.['bsv21'] as Bsv21Data | undefined
      if (!output || !data || output.topics?.length === 0) return undefined
      const { id, op, amt, sym, dec, icon } = data
      if (id !== ids[i] || (op !== 'deploy+mint' && op !== 'deploy+auth')) return undefined
      return { id, op, amt: BigInt(amt ?? 0), sym, dec: dec ?? 0, icon, score: output.score }
    })
  }

  async totals(id: TokenId): Promise<TokenTotals> {
    const book = this.#book(id)
    const [totals, holders] = await Promise.all([book.totals(), book.count()])
    const amount = (name: string): bigint => totals[name]?.amount ?? 0n
    const [minted, supply] = [amount('minted'), amount('supply')]
    return {
      minted,
      supply,
      burned: minted - supply,
      listed: amount('list'),
      listings: totals['list']?.outputs ?? 0,
      ltm: amount('ltm'),
      pow20: amount('pow20'),
      holders
    }
  }

  /** What addresses have together under one kind of lock. */
  async balance(id: TokenId, lock: HeldLock, addresses: readonly string[]): Promise<TokenBalance> {
    const hashes = [...new Set(addresses)].map(address => parseAddress(address).hash)
    const found = await this.#book(id).accounts(hashes)
    let [amount, outputs] = [0n, 0]
    for (const each of found) {
      amount += each[lock]?.amount ?? 0n
      outputs += each[lock]?.outputs ?? 0
    }
    return { amount, outputs }
  }

  /** What each address has, under all locks. */
  async holdings(id: TokenId, addresses: readonly string[]): Promise<Holder[]> {
    const hashes = addresses.map(address => parseAddress(address).hash)
    const found = await this.#book(id).accounts(hashes)
    return hashes.map((hash, i) => holderOf(hash, found[i]!))
  }

  /** Who has the most, a page at a time. */
  async holders(
    id: TokenId,
    page: { readonly limit: number; readonly cursor?: string | undefined }
  ): Promise<HolderPage> {
    const { accounts, cursor } = await this.#book(id).ranked(page)
    return { holders: accounts.map(({ account, amounts }) => holderOf(account, amounts)), cursor }
  }

  #book(id: TokenId): Book {
    return new Book(this.#outputs.store, parseOutpoint(id))
  }
}

const holderOf = (hash: Uint8Array, amounts: Amounts): Holder => ({
  address: formatAddress(hash),
  amount: Object.values(amounts).reduce((sum, { amount }) => sum + amount, 0n),
  locks: amounts
})
