/** What is known of tokens: what was deployed, what there is of them, and who has it. All of it is kept, nothing is added up here. */
import { formatAddress, parseAddress } from '@quoin/chain'
import { formatOutpoint, type Outpoint, parseOutpoint, successor, type TokenId } from '@quoin/primitives'
import { accountIn, addressAt, Book, type Bsv21Data, type OutputStore, totalOf } from '@quoin/txo'
import { bsv21Events } from './keys.ts'
import { parseTokenId } from './lookup.ts'
import { searchSymbols } from './symbols.ts'
import type { HolderLock } from './token-lock.ts'
import { DISCOVERY } from './topic-names.ts'

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

export interface TokenPage {
  readonly tokens: readonly Token[]
  readonly cursor: string | undefined
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
  readonly locks: Readonly<Partial<Record<HolderLock, TokenBalance>>>
}

export interface HolderPage {
  readonly holders: readonly Holder[]
  readonly cursor: string | undefined
}

export interface TokenHolding {
  readonly id: TokenId
  readonly amount: bigint
  readonly locks: Holder['locks']
}

export interface TokenHoldingPage {
  readonly holdings: readonly TokenHolding[]
  readonly cursor: string | undefined
}

interface Page {
  readonly limit: number
  readonly cursor?: string | undefined
}

/** Tokens to look at for one page: an address may have had many that it has no more. */
const MOST_LOOKED_AT = 1000
/** The ends of the order of tokens; no hash is either. */
const FIRST = `${'0'.repeat(64)}_0` as TokenId
const LAST = `${'f'.repeat(64)}_0` as TokenId
/** By these events the outputs of a holder are found, one type for each lock. */
const { p2pkh, cos, listBy } = bsv21Events.types
const BY_HOLDER = [p2pkh.index, cos.index, listBy.index]

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

  /**
   * Tokens whose symbols begin with a text, in the order of the symbols, a page at a time. A page may have fewer rows
   * than asked for, and a cursor all the same.
   */
  async bySymbol(prefix: string, page: Page): Promise<TokenPage> {
    const { deployments, cursor } = await searchSymbols(this.#outputs.store, prefix, page)
    return { tokens: await this.#deployed(deployments), cursor }
  }

  /** All tokens in the order in which they were deployed, a page at a time. */
  async all({ limit, cursor: from }: Page): Promise<TokenPage> {
    const { rows, cursor } = await this.#outputs.search({
      keys: [`tp:${DISCOVERY}`],
      limit,
      ...(from !== undefined && { cursor: from })
    })
    return { tokens: await this.#deployed(rows.map(({ outpoint }) => outpoint)), cursor }
  }

  async #deployed(outpoints: readonly Outpoint[]): Promise<Token[]> {
    const found = await this.tokens(outpoints.map(outpoint => formatOutpoint(outpoint, '_') as TokenId))
    return found.filter(each => each !== undefined)
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
  async balance(id: TokenId, lock: HolderLock, addresses: readonly string[]): Promise<TokenBalance> {
    const hashes = [...new Set(addresses)].map(address => parseAddress(address).hash)
    const found = await this.#book(id).accounts(hashes)
    let [amount, outputs] = [0n, 0]
    for (const each of found) {
      amount += each[lock]?.amount ?? 0n
      outputs += each[lock]?.outputs ?? 0
    }
    return { amount, outputs }
  }

  /**
   * What an address has, token by token in the order of their ids, a page at a time. A page may have fewer rows than
   * there are, or none, and a cursor all the same, after many tokens that the address has no more.
   */
  async holdings(address: string, { limit, cursor }: Page): Promise<TokenHoldingPage> {
    const { hash } = parseAddress(address)
    const found: TokenHolding[] = []
    let after = cursor === undefined ? undefined : parseTokenId(cursor)
    for (let looked = 0; looked < MOST_LOOKED_AT; ) {
      // One more than asked for says whether there is a next page.
      const ids = await this.#everHeld(formatAddress(hash), limit + 1, after)
      const has = await accountIn(
        this.#outputs.store,
        hash,
        ids.map(id => parseOutpoint(id))
      )
      for (const [i, id] of ids.entries()) {
        if (totalOf(has[i]!) > 0n) found.push({ id, amount: totalOf(has[i]!), locks: has[i]! })
      }
      if (found.length > limit) return { holdings: found.slice(0, limit), cursor: found[limit - 1]!.id }
      if (ids.length <= limit) return { holdings: found, cursor: undefined }
      after = ids.at(-1)!
      looked += ids.length
    }
    return { holdings: found, cursor: after }
  }

  /** The first tokens, in the order of their ids, that outputs of an address were of, spent or not. */
  async #everHeld(address: string, most: number, after: TokenId | undefined): Promise<TokenId[]> {
    const found = await Promise.all(
      BY_HOLDER.map(async index => {
        const range = {
          start: after === undefined ? index.encode(address, FIRST) : successor(index.encode(address, after)),
          end: index.encode(address, LAST),
          reverse: false
        }
        // Beside each there may be the set of the spent ones.
        const keys = await this.#outputs.store.zkeys(range, { limit: 2 * most })
        return keys.filter(key => index.owns(key)).map(key => index.decode(key)[1])
      })
    )
    return [...new Set(found.flat())].sort().slice(0, most)
  }

  /** Who has the most, a page at a time. */
  async holders(id: TokenId, page: Page): Promise<HolderPage> {
    const { accounts, cursor } = await this.#book(id).ranked(page)
    const holders = accounts.map(({ account, amounts, total }) => ({
      address: addressAt(account, 0),
      amount: total,
      locks: amounts
    }))
    return { holders, cursor }
  }

  #book(id: TokenId): Book {
    return new Book(this.#outputs.store, parseOutpoint(id))
  }
}
