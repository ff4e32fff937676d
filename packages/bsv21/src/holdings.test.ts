/** What an address has, token by token: all of it, in pages, at a cost that does not grow with what it ever had. */

import { parseAddress } from '@quoin/chain'
import { makeOutpoint, parseOutpoint, type TokenId, type Txid } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { OutputStore, outputs, spendFields } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bsv21Events } from './keys.ts'
import { TOKEN_EVENTS } from './node.testing.ts'
import { HOLDER_LOCKS, type HolderLock } from './token-lock.ts'
import * as t from './tokens.testing.ts'
import { type TokenHolding, Tokens } from './tokens.ts'

const [alice, bob] = [t.person(1), t.person(2)]
const { p2pkh, cos, listBy } = bsv21Events.types
const TYPES = { p2pkh, cos, list: listBy }

/** Tokens in the order of their ids. */
const token = (i: number): TokenId => `${i.toString(16).padStart(8, '0').padEnd(64, 'a')}_${i % 3}` as TokenId

let store: Store
let tokens: Tokens

beforeEach(async () => {
  store = await openStore('memory:')
  tokens = new Tokens(new OutputStore(store, { events: TOKEN_EVENTS }))
})
afterEach(() => store.close())

interface Had {
  readonly id: TokenId
  readonly lock?: HolderLock
  /** What is left of it. */
  readonly amount: bigint
}

/** Writes what commits would have left: events of outputs, spent or not, and the account. */
const write = async (address: string, had: readonly Had[]): Promise<void> => {
  const { hash } = parseAddress(address)
  const batch = store.batch()
  for (const [i, { id, lock = 'p2pkh', amount }] of had.entries()) {
    const made = makeOutpoint(new Uint8Array(32).fill(7) as Txid, i)
    const { index, spent } = TYPES[lock]
    batch.zadd(index.encode(address, id), { member: made, score: i })
    if (amount === 0n) {
      batch.zadd(spent.encode(address, id), { member: made, score: i })
      continue
    }
    batch
      .use(outputs.collections.spends)
      .at()
      .set(spendFields.collections.account, [parseOutpoint(id), hash], { [lock]: { amount, outputs: 1 } })
  }
  await batch.commit()
}

const allPages = async (address: string, limit: number): Promise<TokenHolding[][]> => {
  const pages: TokenHolding[][] = []
  let cursor: string | undefined
  do {
    const page = await tokens.holdings(address, { limit, cursor })
    pages.push([...page.holdings])
    cursor = page.cursor
  } while (cursor !== undefined)
  return pages
}

describe('holdings', () => {
  it('are none of an address that never had anything', async () => {
    await write(bob.address, [{ id: token(1), amount: 5n }])
    expect(await tokens.holdings(alice.address, { limit: 10 })).toEqual({ holdings: [], cursor: undefined })
  })

  it('are of every lock, each token once, without what is spent', async () => {
    await write(alice.address, [
      { id: token(3), lock: 'list', amount: 3n },
      { id: token(1), lock: 'p2pkh', amount: 1n },
      { id: token(2), lock: 'cos', amount: 2n },
      { id: token(4), lock: 'p2pkh', amount: 0n },
      { id: token(1), lock: 'list', amount: 0n }
    ])
    await write(bob.address, [{ id: token(5), amount: 5n }])
    const { holdings, cursor } = await tokens.holdings(alice.address, { limit: 3 })
    expect(holdings).toEqual([
      { id: token(1), amount: 1n, locks: { p2pkh: { amount: 1n, outputs: 1 } } },
      { id: token(2), amount: 2n, locks: { cos: { amount: 2n, outputs: 1 } } },
      { id: token(3), amount: 3n, locks: { list: { amount: 3n, outputs: 1 } } }
    ])
    expect(cursor).toBeUndefined()
  })

  it.each([1, 2, 7, 49, 50, 51])('come in pages of %i, none twice and none left out', async limit => {
    const had = Array.from({ length: 150 }, (_, i) => ({
      id: token(i),
      lock: HOLDER_LOCKS[(i * 7) % 3]!,
      amount: i % 3 === 1 ? BigInt(i) : 0n
    }))
    await write(alice.address, had)
    const pages = await allPages(alice.address, limit)
    const expected = had.filter(({ amount }) => amount > 0n).map(({ id }) => id)
    expect(pages.flat().map(({ id }) => id)).toEqual(expected)
    expect(pages.map(({ length }) => length)).toEqual(
      Array.from({ length: Math.ceil(50 / limit) }, (_, i) => Math.min(limit, 50 - i * limit))
    )
  })

  it('cost the same however many there are, and however many there were', async () => {
    const many = 20_000
    const had = Array.from({ length: many }, (_, i) => ({ id: token(i), amount: i < many / 2 ? 1n : 0n }))
    await write(alice.address, [...had, { id: token(many), amount: 1n }])
    const keys = vi.spyOn(store, 'zkeys')
    const read = async (): Promise<number> => {
      const found = await Promise.all(keys.mock.results.map(({ value }) => value as Promise<unknown[]>))
      keys.mockClear()
      return found.reduce((sum, { length }) => sum + length, 0)
    }
    let cursor: string | undefined
    const pages: number[] = []
    do {
      const page = await tokens.holdings(alice.address, { limit: 1000, cursor })
      pages.push(page.holdings.length)
      expect(await read()).toBeLessThan(5000)
      cursor = page.cursor
    } while (cursor !== undefined)
    expect(pages.reduce((sum, each) => sum + each)).toBe(many / 2 + 1)
    expect(pages.slice(0, 10)).toEqual(Array(10).fill(1000))
  })

  it.each(['nonsense', `${'ab'.repeat(32)}`])('do not begin at %s', async cursor => {
    await expect(tokens.holdings(alice.address, { limit: 1, cursor })).rejects.toMatchObject({
      code: expect.stringMatching(/^ERR_/)
    })
  })
})
