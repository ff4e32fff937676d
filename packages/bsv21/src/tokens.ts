/** Reads tokens: deployments, totals and holders. All are kept by commits; no sum is computed here. */
import { formatAddress, parseAddress } from '@quoin/chain'
import { formatOutpoint, type Outpoint, parseOutpoint, successor, type TokenId } from '@quoin/primitives'
import type { StoreReads } from '@quoin/store'
import { accountIn, addressAt, Book, type Bsv21Data, type OutputStore, totalOf } from '@quoin/txo'
import { bsv21Events } from './keys.ts'
import { parseTokenId } from './lookup.ts'
import { searchSymbols } from './symbols.ts'
import type { HolderLock } from './token-lock.ts'
import { DISCOVERY } from './topic-names.ts'

/** A token, as its deployment declares it. */
export interface Token {
  readonly id: TokenId
  readonly op: 'deploy+mint' | 'deploy+auth'
  /** Amount of the deployment itself. */
  readonly amt: bigint
  readonly sym: string | undefined
  readonly dec: number
  readonly icon: string | undefined
  /** The form of the deployment: BRC-161 or BRC-162. */
  readonly encoding: 'json' | 'binary'
  readonly score: number
}

export interface TokenPage {
  readonly tokens: readonly Token[]
  readonly cursor: string | undefined
}

export interface TokenTotals {
  /** Sum of all mints. */
  readonly minted: bigint
  /** Sum of the unspent outputs. */
  readonly supply: bigint
  /** Sum of all burns. */
  readonly burned: bigint
  /** Listings: amount, and number of outputs. */
  readonly listed: bigint
  readonly listings: number
  /** Amount under mint contracts. */
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
  /** Amounts by lock type; zero amounts are omitted. */
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

/** Tokens that one page visits: an address may have held many. */
const MOST_LOOKED_AT = 1000
/** The ends of the order of token ids; no hash is either. */
const FIRST = `${'0'.repeat(64)}_0` as TokenId
const LAST = `${'f'.repeat(64)}_0` as TokenId
/** Event types of a holder's outputs, by lock. */
const { id, p2pkh, cos, listBy } = bsv21Events.types
const BY_HOLDER = [p2pkh.index, cos.index, listBy.index]

/** The first known tokens after an id, in the order of the text of their ids. */
export const tokenIdsAfter = async (
  reads: StoreReads,
  after: TokenId | undefined,
  most: number
): Promise<TokenId[]> => {
  const range = {
    start: after === undefined ? id.index.encode(FIRST) : successor(id.index.encode(after)),
    end: successor(id.index.encode(LAST)),
    reverse: false
  }
  const ids: TokenId[] = []
  while (ids.length < most) {
    // The set of spent outputs may be beside each set.
    const keys = await reads.zkeys(range, { limit: 2 * most })
    for (const key of keys) if (id.index.owns(key)) ids.push(id.index.decode(key)[0])
    if (keys.length < 2 * most) break
    range.start = successor(keys.at(-1)!)
  }
  return ids.slice(0, most)
}

export class Tokens {
  readonly #outputs: OutputStore

  constructor(outputs: OutputStore) {
    this.#outputs = outputs
  }

  /** Undefined without a known deployment. */
  async token(id: TokenId): Promise<Token | undefined> {
    return (await this.tokens([id]))[0]
  }

  /** One token for each id, in order. */
  async tokens(ids: readonly TokenId[]): Promise<(Token | undefined)[]> {
    const loaded = await this.#outputs.loadOutputs(
      ids.map(id => parseOutpoint(id)),
      { includeTags: ['bsv21'], includeTopics: true }
    )
    return loaded.map((output, i) => {
      const data = output?.data?.['bsv21'] as Bsv21Data | undefined
      if (!output || !data || output.topics?.length === 0) return undefined
      const { id, op, amt, sym, dec, icon, encoding = 'json' } = data
      if (id !== ids[i] || (op !== 'deploy+mint' && op !== 'deploy+auth')) return undefined
      return { id, op, amt: BigInt(amt ?? 0), sym, dec: dec ?? 0, icon, encoding, score: output.score }
    })
  }

  /**
   * Tokens whose symbols begin with a text, in the order of the symbols, page by page. A page may be shorter than its limit
   * and still have a cursor.
   */
  async bySymbol(prefix: string, page: Page): Promise<TokenPage> {
    const { deployments, cursor } = await searchSymbols(this.#outputs.store, prefix, page)
    return { tokens: await this.#deployed(deployments), cursor }
  }

  /** All tokens in the order of their deployments, page by page. */
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

  /** Sum of the balances of addresses under one kind of lock. */
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
   * The balances of an address by token, in the order of the ids, page by page. A page may be shorter than its limit, or
   * empty, and still have a cursor, after tokens that the address no longer holds.
   */
  async holdings(address: string, { limit, cursor }: Page): Promise<TokenHoldingPage> {
    const { hash } = parseAddress(address)
    const found: TokenHolding[] = []
    let after = cursor === undefined ? undefined : parseTokenId(cursor)
    for (let looked = 0; looked < MOST_LOOKED_AT; ) {
      // One token beyond the limit shows that there is a next page.
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

  /** The first tokens, in the order of their ids, of which the address has or had outputs. */
  async #everHeld(address: string, most: number, after: TokenId | undefined): Promise<TokenId[]> {
    const found = await Promise.all(
      BY_HOLDER.map(async index => {
        const range = {
          start: after === undefined ? index.encode(address, FIRST) : successor(index.encode(address, after)),
          end: index.encode(address, LAST),
          reverse: false
        }
        // The set of spent outputs may be beside each set.
        const keys = await this.#outputs.store.zkeys(range, { limit: 2 * most })
        return keys.filter(key => index.owns(key)).map(key => index.decode(key)[1])
      })
    )
    return [...new Set(found.flat())].sort().slice(0, most)
  }

  /** Holders by amount, largest first, page by page. */
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
